#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::detail {

constexpr std::size_t kMaxTomlBytes = 1'000'000;
constexpr int kMaxTomlKeyParts = 17;  // of a dotted key
constexpr int kMaxTomlNesting = 16;   // of lists and inline tables
/// A section's key, then a key at each level.
constexpr std::size_t kMaxTomlDepth = 1 + kMaxTomlKeyParts * (2 + kMaxTomlNesting);

/// Refuses with a ConfigError, before it is parsed, a text that the parser would make a tower of
/// tables of: it calls itself for each dot of a key and for each bracket, and keys with dots stand
/// in inline tables too. No config is near the limits.
void check_toml_limits(std::string_view text, const std::string& name);

}  // namespace penstock::detail
