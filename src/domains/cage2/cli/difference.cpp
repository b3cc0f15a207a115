#include "domains/cage2/cli/difference.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"

namespace penstock::cage2 {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Draws which of all numbers would have been the first sample.
double permutation_p(const std::vector<double>& first, const std::vector<double>& second) {
  constexpr int kRounds = 9999;
  constexpr double kSame = 1e-9;  // sums in another order
  std::vector<double> all = first;
  all.insert(all.end(), second.begin(), second.end());
  const double total = sum_of(all);
  const double n = first.size();
  const double m = second.size();
  const auto distance = [&](double sum) { return std::abs(sum / n - (total - sum) / m); };
  const double observed = distance(sum_of(first));
  Random random(0);
  int as_far = 1;
  for (int round = 0; round < kRounds; ++round) {
    double sum = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      std::swap(all[i], all[i + random.below(static_cast<std::uint32_t>(all.size() - i))]);
      sum += all[i];
    }
    if (distance(sum) >= observed - kSame * (1 + observed)) { ++as_far; }
  }
  return as_far / (kRounds + 1.0);
}

}  // namespace

Difference difference(const std::vector<double>& first, const std::vector<double>& second) {
  const Estimate a = estimate(first);
  const Estimate b = estimate(second);
  const double mean = b.mean - a.mean;
  const double p =
      first.size() < second.size() ? permutation_p(first, second) : permutation_p(second, first);
  const double va = a.std_error * a.std_error;
  const double vb = b.std_error * b.std_error;
  if (va + vb == 0) { return {mean, mean, mean, mean, mean, p}; }
  const double na = first.size();
  const double nb = second.size();
  // Welch and Satterthwaite's degrees of freedom.
  const auto freedom =
      static_cast<std::size_t>((va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1)));
  const double half = student_quantile(freedom) * std::sqrt(va + vb);
  const double half_99 = student_quantile_99(freedom) * std::sqrt(va + vb);
  return {mean, mean - half, mean + half, mean - half_99, mean + half_99, p};
}

}  // namespace penstock::cage2
