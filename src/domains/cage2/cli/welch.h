#pragma once
#include <vector>

namespace penstock::cage2 {

/// Mean and standard error of a sample.
struct Estimate {
  double mean = 0;
  double std_error = 0;
};
/// Of at least one number; the error of one alone is 0.
Estimate estimate(const std::vector<double>& values);

/// Welch's test of two samples whose variances may differ.
struct WelchTest {
  double difference = 0;  // of the means, the second minus the first
  double low = 0;         // of its 95 % interval, with whole degrees of freedom, rounded down
  double high = 0;
  double p = 1;  // of a difference at least as large where there is none
};
/// Each sample needs two numbers or more. Without any spread p is 1 or 0.
WelchTest welch(const std::vector<double>& first, const std::vector<double>& second);

/// The chance that Student's t lies further from 0 than `t`.
double student_p(double t, double freedom);

}  // namespace penstock::cage2
