#pragma once
#include <vector>

namespace penstock::cage2 {

/// A difference of two means, the second minus the first.
struct Difference {
  double mean = 0;
  double low = 0;  // of its 95 % interval after Welch, with whole degrees of freedom, rounded down
  double high = 0;
  double low_99 = 0;  // of its 99 % interval
  double high_99 = 0;
  /// The chance of a difference at least as large where both samples come from one distribution, by
  /// 9,999 permutations. It holds for any distribution: returns are skewed, and a few of them may
  /// miss what is rare, which makes the interval too narrow.
  double p = 1;
};
/// Each sample needs two numbers or more. A function of the samples alone.
Difference difference(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace penstock::cage2
