#pragma once
#include <cmath>

namespace penstock::detail {

/// Of one angle, radians.
struct SinCos {
  double sin = 0;
  double cos = 1;
};

/// A pole that is up leans less: 12 degrees are 0.21.
inline constexpr double kSmallAngle = 0.25;

/// Taylor series for |angle| <= kSmallAngle; the first terms left out are below 1e-17 and 1e-19
/// of the result, so it agrees with a good libm to the last bit or the one before.
inline SinCos sin_cos_small(double angle) {
  const double s = angle * angle;
  const double odd =
      s *
      (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 + s * (-1.0 / 39916800)))));
  const double even =
      s * (-1.0 / 2 +
           s * (1.0 / 24 + s * (-1.0 / 720 +
                                s * (1.0 / 40320 + s * (-1.0 / 3628800 + s * (1.0 / 479001600))))));
  return {angle + angle * odd, 1 + even};
}

/// Both at once, several times faster than libm when the angle is small.
/// Beyond kSmallAngle it is libm's.
inline SinCos sin_cos(double angle) {
  if (std::abs(angle) <= kSmallAngle) [[likely]] { return sin_cos_small(angle); }
  return {std::sin(angle), std::cos(angle)};
}

}  // namespace penstock::detail
