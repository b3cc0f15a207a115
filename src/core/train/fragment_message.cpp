#include "core/train/fragment_message.h"

#include <ATen/ATen.h>

#include <cstring>

#include "core/train/packing.h"
#include "penstock/core/base/errors.h"

namespace penstock::detail {
namespace {

/// The label's bytes, and those of the rows.
struct Parts {
  std::span<const std::byte> label;
  std::span<const std::byte> rows;
};

Parts parts_of(std::span<const std::byte> message) {
  std::uint64_t size = 0;
  if (message.size() < sizeof(size)) { throw DataError("a fragment's message is torn"); }
  std::memcpy(&size, message.data(), sizeof(size));
  message = message.subspan(sizeof(size));
  if (size > message.size()) { throw DataError("a fragment's message is torn"); }
  return {message.first(size), message.subspan(size)};
}

/// Of `num_envs` envs of a fragment's tensor, [T, N, ...].
std::size_t share(const at::Tensor& tensor, std::int64_t num_envs) {
  return tensor.nbytes() / static_cast<std::size_t>(tensor.size(1)) *
         static_cast<std::size_t>(num_envs);
}

}  // namespace

std::vector<std::byte> to_message(const FragmentLabel& label, const Fragment& fragment) {
  const std::vector<std::byte> head = packed(label);
  const std::uint64_t size = head.size();
  std::vector<std::byte> message(sizeof(size));
  message.reserve(sizeof(size) + size + rows_size(fragment, fragment.num_envs()));
  std::memcpy(message.data(), &size, sizeof(size));
  message.insert(message.end(), head.begin(), head.end());
  for (const auto& [name, tensor] : fragment.tensors()) {
    const auto* data = static_cast<const std::byte*>(tensor.data_ptr());
    message.insert(message.end(), data, data + tensor.nbytes());
  }
  return message;
}

FragmentLabel label_of(std::span<const std::byte> message) {
  return unpacked<FragmentLabel>(parts_of(message).label);
}

std::size_t rows_size(const Fragment& like, std::int64_t num_envs) {
  std::size_t size = 0;
  for (const auto& [name, tensor] : like.tensors()) { size += share(tensor, num_envs); }
  return size;
}

void read_rows(std::span<const std::byte> message, std::int64_t first, std::int64_t num_envs,
               const Fragment& into) {
  std::span<const std::byte> rows = parts_of(message).rows;
  if (rows.size() != rows_size(into, num_envs)) {
    throw DataError("a fragment's message has " + std::to_string(rows.size()) +
                    " bytes of rows, and " + std::to_string(rows_size(into, num_envs)) +
                    " were expected: its sampler has another config or build");
  }
  for (const auto& [name, tensor] : into.tensors()) {
    const std::size_t row = share(tensor, num_envs) / static_cast<std::size_t>(tensor.size(0));
    for (std::int64_t t = 0; t < tensor.size(0); ++t) {
      std::memcpy(tensor.select(0, t).narrow(0, first, num_envs).data_ptr(), rows.data(), row);
      rows = rows.subspan(row);
    }
  }
}

}  // namespace penstock::detail
