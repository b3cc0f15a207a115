#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace penstock::detail {

/// XXH3-64 of the parts one after the other, without joining them in memory.
std::string xxh3_hex_of_parts(std::span<const std::span<const std::byte>> parts);

}  // namespace penstock::detail
