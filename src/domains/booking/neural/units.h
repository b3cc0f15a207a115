#pragma once
#include <algorithm>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// Times as a network is told them: quarters of an hour where they are short, four hours for the
/// day.
inline constexpr float kQuarter = 900;
inline constexpr float kFourHours = 14400;

inline float quarters(Seconds value, float low, float high) {
  return std::clamp(value / kQuarter, low, high);
}

/// What is added to the logit of a token that cannot be chosen.
inline constexpr float kClosed = -1e30F;

}  // namespace penstock::booking
