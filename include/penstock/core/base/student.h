#pragma once
#include <cstddef>

namespace penstock {

/// The 97.5 % quantile of Student's t for that many degrees of freedom, at least one: half of a 95
/// % interval, in standard errors.
double student_quantile(std::size_t freedom);

}  // namespace penstock
