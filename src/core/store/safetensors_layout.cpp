#include "core/store/safetensors_layout.h"

#include <algorithm>
#include <bit>
#include <set>

#include "core/store/safetensors_header.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/json_value.h"

namespace penstock::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::size_t kDataAlignment = 64;  // a cache line, and the widest SIMD load

void check_view(const TensorView& tensor) {
  std::uint64_t bytes = size_of(tensor.dtype);
  PENSTOCK_CHECK(product_overflows(tensor.shape, bytes), ==, false);
  PENSTOCK_CHECK(tensor.data.size(), ==, bytes);
  PENSTOCK_CHECK(tensor.name, !=, kMetadataKey);
}

// The format allows no padding between tensors. With wide elements first each tensor is still
// aligned to its own elements.
std::vector<std::size_t> data_order(std::span<const TensorView> tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return size_of(tensors[a].dtype) > size_of(tensors[b].dtype);
  });
  return order;
}

// Spaces after the JSON are the only padding there is.
std::string framed(std::string header) {
  std::uint64_t size = header.size();
  const std::size_t over = (sizeof(size) + header.size()) % kDataAlignment;
  if (over != 0) { header.append(kDataAlignment - over, ' '); }
  size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + header;
}

}  // namespace

std::vector<std::span<const std::byte>> SafetensorsLayout::parts() const {
  std::vector<std::span<const std::byte>> all{std::as_bytes(std::span(head))};
  all.insert(all.end(), data.begin(), data.end());
  return all;
}

SafetensorsLayout lay_out(std::span<const TensorView> tensors,
                          const std::map<std::string, std::string>& metadata) {
  SafetensorsLayout layout;
  std::vector<std::uint64_t> begins(tensors.size());
  std::uint64_t size = 0;
  for (const std::size_t i : data_order(tensors)) {
    check_view(tensors[i]);
    begins[i] = size;
    size += tensors[i].data.size();
    layout.data.push_back(tensors[i].data);
  }

  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) { header[kMetadataKey] = metadata; }
  // By its own index an object that keeps the order is searched from the front.
  auto& entries = header.get_ref<OrderedJson::object_t&>();
  std::set<std::string> names;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorView& tensor = tensors[i];
    PENSTOCK_CHECK(names.insert(tensor.name).second, ==, true);
    entries.emplace_back(
        tensor.name, OrderedJson{{"dtype", dtype_name(tensor.dtype)},
                                 {"shape", tensor.shape},
                                 {"data_offsets", {begins[i], begins[i] + tensor.data.size()}}});
  }
  layout.head = framed(to_text(header));
  return layout;
}

}  // namespace penstock::detail
