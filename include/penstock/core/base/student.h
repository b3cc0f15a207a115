#pragma once
#include <cstddef>
#include <span>

namespace penstock {

/// The 97.5 % quantile of Student's t for that many degrees of freedom, at least one: half of a 95
/// % interval, in standard errors.
double student_quantile(std::size_t freedom);
/// The same for a 99 % interval: the 99.5 % quantile.
double student_quantile_99(std::size_t freedom);

/// Mean and standard error of a sample.
struct Estimate {
  double mean = 0;
  double std_error = 0;
};
/// Of at least one number; the error of one alone is 0.
Estimate estimate(std::span<const double> values);

}  // namespace penstock
