#include "penstock/core/store/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "core/store/atomic_file.h"
#include "core/store/safetensors_header.h"
#include "core/store/safetensors_layout.h"
#include "penstock/core/base/errors.h"

namespace penstock {
namespace {

struct DtypeRow {
  Dtype dtype;
  const char* name;
  std::size_t size;
};

constexpr std::array kDtypes{
    DtypeRow{Dtype::f32, "F32", 4}, DtypeRow{Dtype::f64, "F64", 8},
    DtypeRow{Dtype::i32, "I32", 4}, DtypeRow{Dtype::i64, "I64", 8},
    DtypeRow{Dtype::u8, "U8", 1},   DtypeRow{Dtype::boolean, "BOOL", 1},
};

const DtypeRow& row_of(Dtype dtype) { return kDtypes.at(static_cast<std::size_t>(dtype)); }

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the bound of the reference implementation

std::uint64_t header_size(std::span<const std::byte> bytes, const std::string& name) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof(size)) {
    throw DataError(fmt::format("{}: {} bytes are not a safetensors file", name, bytes.size()));
  }
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > kMaxHeader || size > bytes.size() - sizeof(size)) {
    throw DataError(
        fmt::format("{}: the header claims {} bytes, the file has {}", name, size, bytes.size()));
  }
  return size;
}

// Any byte but 0 and 1 in a bool is undefined behaviour for whoever reads it.
void check_booleans(const TensorView& tensor, const std::string& name) {
  const auto strange = [](std::byte value) { return value > std::byte{1}; };
  if (tensor.dtype == Dtype::boolean &&
      std::any_of(tensor.data.begin(), tensor.data.end(), strange)) {
    throw DataError(
        fmt::format("{}: tensor '{}' has bytes that are not booleans", name, tensor.name));
  }
}

}  // namespace

std::size_t size_of(Dtype dtype) { return row_of(dtype).size; }

const char* detail::dtype_name(Dtype dtype) { return row_of(dtype).name; }

std::optional<Dtype> detail::dtype_named(std::string_view name) {
  for (const DtypeRow& row : kDtypes) {
    if (row.name == name) { return row.dtype; }
  }
  return std::nullopt;
}

std::string detail::dtype_list() {
  std::string list;
  for (const DtypeRow& row : kDtypes) {
    list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return list;
}

bool detail::product_overflows(std::span<const std::int64_t> shape, std::uint64_t& product) {
  return std::any_of(shape.begin(), shape.end(), [&](std::int64_t size) {
    return __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product);
  });
}

std::vector<std::byte> to_safetensors(std::span<const TensorView> tensors,
                                      const std::map<std::string, std::string>& metadata) {
  const detail::SafetensorsLayout layout = detail::lay_out(tensors, metadata);
  std::vector<std::byte> bytes;
  for (const auto part : layout.parts()) { bytes.insert(bytes.end(), part.begin(), part.end()); }
  return bytes;
}

void save_safetensors(const std::string& path, std::span<const TensorView> tensors,
                      const std::map<std::string, std::string>& metadata) {
  detail::replace_file(path, to_safetensors(tensors, metadata));
}

Safetensors Safetensors::parse(std::vector<std::byte> bytes, const std::string& name) {
  const std::uint64_t header = header_size(bytes, name);
  const std::span<const std::byte> data = std::span(bytes).subspan(sizeof(header) + header);
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + sizeof(header), header);
  detail::HeaderClaims claims = detail::parse_header(json, name);
  detail::check_claims(claims, data.size(), name);

  Safetensors file;
  for (detail::TensorClaim& claim : claims.tensors) {
    file.tensors_.push_back(
        {.name = std::move(claim.name),
         .dtype = claim.dtype,
         .shape = std::move(claim.shape),
         .data = data.subspan(claim.offsets[0], claim.offsets[1] - claim.offsets[0])});
    check_booleans(file.tensors_.back(), name);
  }
  file.by_name_.resize(file.tensors_.size());
  std::iota(file.by_name_.begin(), file.by_name_.end(), 0);
  std::ranges::sort(file.by_name_, {},
                    [&](std::size_t i) { return std::string_view(file.tensors_[i].name); });
  file.name_ = name;
  file.metadata_ = std::move(claims.metadata);
  file.bytes_ = std::move(bytes);  // the views stay valid: the memory changes its owner only
  return file;
}

Safetensors Safetensors::read(const std::string& path) {
  return parse(detail::read_file(path), path);
}

const TensorView& Safetensors::at(std::string_view tensor) const& {
  const auto name_at = [&](std::size_t i) { return std::string_view(tensors_[i].name); };
  const auto found = std::ranges::lower_bound(by_name_, tensor, {}, name_at);
  if (found == by_name_.end() || name_at(*found) != tensor) {
    std::vector<std::string> names;
    for (const TensorView& view : tensors_) { names.push_back(view.name); }
    throw DataError(fmt::format("{}: the tensor '{}' is missing{}", name_, tensor,
                                did_you_mean(tensor, names)));
  }
  return tensors_[*found];
}

}  // namespace penstock
