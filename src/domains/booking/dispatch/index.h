#pragma once
#include <cstddef>
#include <cstdint>

namespace penstock::booking::dispatch {

/// A number of a list as an index; it is not negative.
inline std::size_t index(std::int32_t value) { return value; }
/// An index as a number of a list; lists are short enough.
inline std::int32_t ordinal(std::size_t value) { return value; }

}  // namespace penstock::booking::dispatch
