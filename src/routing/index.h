#pragma once
#include <cstddef>
#include <cstdint>

namespace penstock::routing {

/// A node, request, vehicle or position as an index; it is not negative.
inline std::size_t index(std::int32_t value) { return static_cast<std::size_t>(value); }

}  // namespace penstock::routing
