#include "core/train/joined_state.h"

#include <ATen/ATen.h>

#include <cstring>
#include <string>
#include <utility>

#include "core/train/packing.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

constexpr const char* kOffsets = "env.offsets";

/// The rows of one tensor; its type is that of rank 0's.
struct Rows {
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;
  template <class Archive>
  void state(Archive& archive) {
    archive(shape, data);
  }
};

struct RankPart {
  std::vector<Rows> tensors;
  std::vector<std::byte> env_bytes;
  template <class Archive>
  void state(Archive& archive) {
    archive(tensors, env_bytes);
  }
};

Rows rows_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const auto* data = static_cast<const std::byte*>(flat.data_ptr());
  return {flat.sizes().vec(), {data, data + flat.nbytes()}};
}

at::Tensor tensor_of(const Rows& rows, at::ScalarType type) {
  at::Tensor tensor = at::empty(rows.shape, type);
  if (tensor.nbytes() != rows.data.size()) {
    throw DataError("the state of another process has rows of another size");
  }
  std::memcpy(tensor.data_ptr(), rows.data.data(), rows.data.size());
  return tensor;
}

/// A file of a checkpoint, and the checkpoint, as they travel.
struct File {
  std::string name;
  std::vector<std::byte> bytes;
  template <class Archive>
  void state(Archive& archive) {
    archive(name, bytes);
  }
};

struct Files {
  std::int64_t step = 0;
  std::string state_text;
  std::vector<File> files;
  template <class Archive>
  void state(Archive& archive) {
    archive(step, state_text, files);
  }
};

}  // namespace

std::vector<std::byte> pack_part(const Engine::Snapshot& part) {
  RankPart own;
  for (const Engine::Snapshot::Entry& entry : part.tensors) {
    if (entry.env_dim >= 0) { own.tensors.push_back(rows_of(entry.tensor)); }
  }
  own.env_bytes = part.env_bytes;
  return packed(own);
}

void join_parts(Engine::Snapshot& snapshot, const std::vector<std::vector<std::byte>>& parts) {
  std::vector<std::vector<at::Tensor>> rows;
  for (const Engine::Snapshot::Entry& entry : snapshot.tensors) { rows.push_back({entry.tensor}); }
  for (std::size_t rank = 1; rank < parts.size(); ++rank) {
    const auto part = unpacked<RankPart>(parts[rank]);
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Engine::Snapshot::Entry& entry = snapshot.tensors[i];
      if (entry.env_dim < 0) { continue; }
      at::Tensor theirs = tensor_of(part.tensors.at(next++), entry.tensor.scalar_type());
      if (entry.name ==
          kOffsets) {  // they count on from the bytes before, and begin with their end
        theirs = theirs.slice(0, 1) + static_cast<std::int64_t>(snapshot.env_bytes.size());
      }
      rows[i].push_back(theirs);
    }
    snapshot.env_bytes.insert(snapshot.env_bytes.end(), part.env_bytes.begin(),
                              part.env_bytes.end());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Engine::Snapshot::Entry& entry = snapshot.tensors[i];
    if (entry.env_dim >= 0) { entry.tensor = at::cat(rows[i], entry.env_dim); }
  }
}

std::vector<std::byte> pack_checkpoint(const Checkpoint& checkpoint) {
  Files files{.step = checkpoint.step, .state_text = checkpoint.state, .files = {}};
  for (const auto& [name, file] : checkpoint.tensors) {
    files.files.push_back({name, to_safetensors(file.tensors(), file.metadata())});
  }
  return packed(files);
}

Checkpoint unpack_checkpoint(std::span<const std::byte> bytes) {
  auto files = unpacked<Files>(bytes);
  Checkpoint checkpoint{.step = files.step, .tensors = {}, .state = files.state_text};
  for (File& file : files.files) {
    checkpoint.tensors.emplace(file.name, Safetensors::parse(std::move(file.bytes), file.name));
  }
  return checkpoint;
}

}  // namespace penstock::detail
