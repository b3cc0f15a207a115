#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/store/safetensors.h"

namespace penstock::detail {

inline constexpr const char* kMetadataKey = "__metadata__";

/// As the format spells them.
const char* dtype_name(Dtype dtype);
std::optional<Dtype> dtype_named(std::string_view name);
std::string dtype_list();

/// Multiplies `product` by every size of the shape; true when 64 bits do not hold it.
bool product_overflows(std::span<const std::int64_t> shape, std::uint64_t& product);

/// What a header claims about one tensor; offsets count from the start of the data.
struct TensorClaim {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint64_t> offsets;  // begin, end
};

struct HeaderClaims {
  std::vector<TensorClaim> tensors;  // as the header lists them
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON. Memory grows with the text, never with a number in it.
/// Throws DataError, which starts with `name`.
HeaderClaims parse_header(std::string_view text, const std::string& name);

/// Throws DataError unless shapes match sizes and the tensors cover the data exactly.
void check_claims(const HeaderClaims& claims, std::uint64_t data_size, const std::string& name);

}  // namespace penstock::detail
