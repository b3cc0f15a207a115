#include "core/store/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace penstock::detail {
namespace {

constexpr std::size_t kMaxRank = 64;  // as NumPy

// Takes the parser's events one by one, so that nothing but what a header may hold is ever stored.
class HeaderReader {
 public:
  HeaderReader(HeaderClaims& claims, const std::string& name) : claims_(claims), name_(name) {}

  bool start_object(std::size_t /*size*/) {
    if (depth_ == 2 || in_list_) { refuse("an object where a value belongs"); }
    ++depth_;
    return true;
  }

  bool key(std::string& text) {
    if (depth_ == 1) {
      in_metadata_ = text == kMetadataKey;
      if (!in_metadata_) { claims_.tensors.push_back({.name = text}); }
      seen_.clear();
    }
    key_ = text;
    if (depth_ == 2 && !seen_.insert(text).second) { refuse(fmt::format("'{}' twice", text)); }
    return true;
  }

  bool string(std::string& text) {
    if (depth_ == 2 && in_metadata_) {
      claims_.metadata[key_] = text;
    } else if (depth_ == 2 && key_ == "dtype" && !in_list_) {
      read_dtype(text);
    } else {
      refuse("a string where none belongs");
    }
    return true;
  }

  bool start_array(std::size_t /*size*/) {
    const bool listed = key_ == "shape" || key_ == "data_offsets";
    if (depth_ != 2 || in_metadata_ || in_list_ || !listed) { refuse("a list where none belongs"); }
    in_list_ = true;
    return true;
  }

  bool number_unsigned(std::uint64_t value) {
    if (!in_list_) { refuse("a number where none belongs"); }
    TensorClaim& tensor = claims_.tensors.back();
    if (key_ == "data_offsets") {
      if (tensor.offsets.size() == 2) { refuse("more than two offsets"); }
      tensor.offsets.push_back(value);
      return true;
    }
    if (value > std::numeric_limits<std::int64_t>::max()) { refuse("a size beyond 63 bits"); }
    if (tensor.shape.size() == kMaxRank) { refuse("too many dimensions"); }
    tensor.shape.push_back(value);
    return true;
  }

  bool end_array() {
    in_list_ = false;
    if (key_ == "data_offsets" && claims_.tensors.back().offsets.size() != 2) {
      refuse("data_offsets are not two");
    }
    return true;
  }

  bool end_object() {
    --depth_;
    if (depth_ == 1 && !in_metadata_) { check_complete(); }
    return true;
  }

  bool number_integer(std::int64_t value) { refuse(fmt::format("the negative number {}", value)); }
  bool number_float(double /*value*/, const std::string& text) {
    refuse(fmt::format("the number {}, not whole or too large", text));
  }
  bool null() { refuse("null"); }
  bool boolean(bool /*value*/) { refuse("true or false"); }
  bool binary(Json::binary_t& /*value*/) { refuse("binary"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& /*why*/) {
    throw DataError(fmt::format("{}: the header is not JSON at byte {}", name_, position));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    const bool named = depth_ > 0 && !in_metadata_ && !claims_.tensors.empty();
    throw DataError(fmt::format(
        "{}: {}: {}", name_,
        named ? fmt::format("tensor '{}'", claims_.tensors.back().name) : "the header", what));
  }

  void read_dtype(const std::string& text) {
    const auto dtype = dtype_named(text);
    if (!dtype) { refuse(fmt::format("dtype {} is not one of {}", text, dtype_list())); }
    claims_.tensors.back().dtype = *dtype;
  }

  void check_complete() const {
    const std::set<std::string> wanted{"dtype", "shape", "data_offsets"};
    if (seen_ != wanted) { refuse("needs dtype, shape and data_offsets, and nothing else"); }
  }

  HeaderClaims& claims_;
  const std::string& name_;
  int depth_ = 0;
  bool in_metadata_ = false;
  bool in_list_ = false;
  std::string key_;             // the last one read
  std::set<std::string> seen_;  // keys of the object at depth 2
};

void check_names(const HeaderClaims& claims, const std::string& name) {
  std::vector<std::string_view> names;
  names.reserve(claims.tensors.size());
  for (const TensorClaim& tensor : claims.tensors) { names.emplace_back(tensor.name); }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    throw DataError(fmt::format("{}: tensor '{}' is there twice", name, *twice));
  }
}

void check_size(const TensorClaim& tensor, std::uint64_t data_size, const std::string& name) {
  const std::uint64_t begin = tensor.offsets[0];
  const std::uint64_t end = tensor.offsets[1];
  if (begin > end || end > data_size) {
    throw DataError(fmt::format("{}: tensor '{}' spans bytes {} to {} of {}", name, tensor.name,
                                begin, end, data_size));
  }
  std::uint64_t bytes = size_of(tensor.dtype);
  if (product_overflows(tensor.shape, bytes) || bytes != end - begin) {
    throw DataError(fmt::format("{}: tensor '{}' has a shape that does not match its {} bytes",
                                name, tensor.name, end - begin));
  }
}

}  // namespace

HeaderClaims parse_header(std::string_view text, const std::string& name) {
  // The parser would skip a byte order mark and stop at a zero; the format allows neither.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos) {
    throw DataError(fmt::format("{}: the header is not a JSON object", name));
  }
  HeaderClaims claims;
  HeaderReader reader(claims, name);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return claims;
}

void check_claims(const HeaderClaims& claims, std::uint64_t data_size, const std::string& name) {
  check_names(claims, name);
  std::vector<const TensorClaim*> order;
  for (const TensorClaim& tensor : claims.tensors) {
    check_size(tensor, data_size, name);
    order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const TensorClaim* a, const TensorClaim* b) { return a->offsets < b->offsets; });
  std::uint64_t covered = 0;
  for (const TensorClaim* tensor : order) {
    if (tensor->offsets[0] != covered) {
      throw DataError(
          fmt::format("{}: tensor '{}' {} the one before it", name, tensor->name,
                      tensor->offsets[0] < covered ? "overlaps" : "leaves a hole after"));
    }
    covered = tensor->offsets[1];
  }
  if (covered != data_size) {
    throw DataError(fmt::format("{}: {} bytes belong to no tensor", name, data_size - covered));
  }
}

}  // namespace penstock::detail
