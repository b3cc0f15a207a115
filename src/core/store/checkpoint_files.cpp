#include "core/store/checkpoint_files.h"

#include <fmt/format.h>

#include "core/store/atomic_file.h"
#include "core/store/manifest.h"
#include "core/store/safetensors_layout.h"
#include "core/store/xxh3.h"
#include "penstock/core/base/check.h"

namespace penstock::detail {
namespace {

constexpr const char* kManifest = "MANIFEST.json";
constexpr const char* kState = "state.json";
constexpr std::uint64_t kMaxManifest = 64'000'000;
constexpr std::string_view kTensors = ".safetensors";

Manifest::File write_tensors(const std::string& path, std::span<const TensorView> tensors) {
  const SafetensorsLayout layout = lay_out(tensors, {{"format", "pt"}});
  const std::vector<Bytes> parts = layout.parts();
  Manifest::File entry{.xxh3 = xxh3_hex_of_parts(parts)};
  for (const Bytes part : parts) { entry.size += part.size(); }
  for (const TensorView& tensor : tensors) { entry.tensors[tensor.name] = xxh3_hex(tensor.data); }
  write_file(path, parts);
  return entry;
}

Manifest::File write_text(const std::string& path, const std::string& text) {
  const Bytes bytes = bytes_of(text);
  write_file(path, std::span(&bytes, 1));
  return {.size = bytes.size(), .xxh3 = xxh3_hex(bytes)};
}

// Which tensor, when the header still tells where the tensors are.
[[noreturn]] void throw_damaged(const std::string& path, std::vector<std::byte> bytes,
                                const Manifest::File& expected) {
  if (expected.tensors.empty()) { throw DataError(path + ": is damaged"); }
  const Safetensors file = Safetensors::parse(std::move(bytes), path + ": is damaged");
  for (const TensorView& tensor : file.tensors()) {
    const auto known = expected.tensors.find(tensor.name);
    if (known != expected.tensors.end() && known->second != xxh3_hex(tensor.data)) {
      throw DataError(fmt::format("{}: tensor '{}' is damaged", path, tensor.name));
    }
  }
  throw DataError(path + ": the header is damaged");
}

std::vector<std::byte> read_verified(const std::string& path, const Manifest::File& expected) {
  if (!exists(path)) { throw DataError(path + ": is missing"); }
  const std::uint64_t size = file_size(path);  // before memory is taken for it
  if (size != expected.size) {
    throw DataError(fmt::format("{}: has {} bytes instead of {}{}", path, size, expected.size,
                                size < expected.size ? ": truncated" : ""));
  }
  std::vector<std::byte> bytes = read_file(path, expected.size);
  if (xxh3_hex(bytes) != expected.xxh3) { throw_damaged(path, std::move(bytes), expected); }
  return bytes;
}

Manifest read_manifest(const std::string& dir, std::int64_t step) {
  const std::string path = fmt::format("{}/{}", dir, kManifest);
  if (!exists(path)) { throw DataError(path + ": is missing"); }
  Manifest manifest = Manifest::parse(text_of(read_file(path, kMaxManifest)), path);
  if (manifest.step != step) {
    throw DataError(fmt::format("{}: is of step {}, not {}", path, manifest.step, step));
  }
  if (!manifest.files.contains(kState)) { throw DataError(path + ": lists no state.json"); }
  return manifest;
}

}  // namespace

void write_checkpoint(const std::string& dir, std::int64_t step, const CheckpointData& data) {
  make_dir(dir);
  Manifest manifest{.step = step};
  for (const auto& [stem, tensors] : data.tensors) {
    PENSTOCK_CHECK(stem.find('/'), ==, std::string::npos);
    const std::string name = fmt::format("{}{}", stem, kTensors);
    manifest.files[name] = write_tensors(fmt::format("{}/{}", dir, name), tensors);
  }
  manifest.files[kState] = write_text(fmt::format("{}/{}", dir, kState), data.state);
  write_text(fmt::format("{}/{}", dir, kManifest), manifest.text());
  sync_dir(dir);
}

namespace {

bool needed_to_act(const std::string& name, const std::string& path) {
  return name == kState || name == "model.safetensors" ||
         (name == "envs.safetensors" && exists(path));
}

}  // namespace

Checkpoint read_checkpoint(const std::string& dir, std::int64_t step, CheckpointPart part) {
  Checkpoint checkpoint{.step = step};
  for (const auto& [name, expected] : read_manifest(dir, step).files) {
    const std::string path = fmt::format("{}/{}", dir, name);
    if (part == CheckpointPart::policy && !needed_to_act(name, path)) { continue; }
    std::vector<std::byte> bytes = read_verified(path, expected);
    if (name == kState) {
      checkpoint.state = text_of(bytes);
    } else {
      const std::string stem = name.substr(0, name.size() - kTensors.size());
      checkpoint.tensors.emplace(stem, Safetensors::parse(std::move(bytes), path));
    }
  }
  return checkpoint;
}

}  // namespace penstock::detail
