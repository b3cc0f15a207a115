#pragma once
#include <array>
#include <cmath>
#include <cstddef>

#include "penstock/core/base/errors.h"

namespace penstock::detail {

/// Refuses loaded values that no episode can have: they would index past an array or never come to
/// an end. Throws DataError.
inline void require_possible(bool possible) {
  if (!possible) { throw DataError("env state: a value that no episode of this env can have"); }
}

/// Neither NaN nor infinite.
template <std::size_t N>
bool all_finite(const std::array<double, N>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) { return false; }
  }
  return true;
}

}  // namespace penstock::detail
