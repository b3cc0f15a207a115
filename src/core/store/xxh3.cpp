#include "core/store/xxh3.h"

#include <fmt/format.h>

#include "penstock/core/store/safetensors.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace penstock {

std::string xxh3_hex(std::span<const std::byte> bytes) {
  return fmt::format("{:016x}", XXH3_64bits(bytes.data(), bytes.size()));
}

std::string detail::xxh3_hex_of_parts(std::span<const std::span<const std::byte>> parts) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  for (const auto part : parts) {
    // An empty view may be a null pointer, which the library counts as an error.
    if (!part.empty()) { XXH3_64bits_update(&state, part.data(), part.size()); }
  }
  return fmt::format("{:016x}", XXH3_64bits_digest(&state));
}

}  // namespace penstock
