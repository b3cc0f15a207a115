#pragma once
#include <cmath>
#include <cstdint>

#include "penstock/core/base/random.h"

namespace penstock::booking {

/// Passes over each place with probability 2 %; draws only once per blink.
/// Why blink: greedy insertion alone puts the same requests back into the same places. Passing over
/// a place now and then is enough to leave a local optimum. The number of places until the next
/// blink is geometric, so one draw and a countdown replace a draw per place.
struct Blink {
  static constexpr double kShare = 0.02;
  Random& random;
  std::uint32_t& left;  // places until the next one
  bool operator()() {
    if (left > 0) {
      --left;
      return false;
    }
    left = static_cast<std::uint32_t>(std::log1p(-random.uniform()) / std::log1p(-kShare));
    return true;
  }
};

}  // namespace penstock::booking
