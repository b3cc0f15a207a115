#pragma once
#include <cstddef>
#include <cstdint>

namespace penstock::booking {

/// A node, request, vehicle or position as an index; it is not negative.
inline std::size_t index(std::int32_t value) { return value; }

}  // namespace penstock::booking
