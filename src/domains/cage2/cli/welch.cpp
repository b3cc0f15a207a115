#include "domains/cage2/cli/welch.h"

#include <cmath>
#include <numeric>

#include "penstock/core/base/student.h"

namespace penstock::cage2 {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method: it converges within
/// some tens of terms where x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr int kMaxTerms = 500;
  constexpr double kEnough = 1e-14;
  double c = 1;
  double d = 1 / (1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    result *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    result *= c * d;
    if (std::abs(c * d - 1) < kEnough) { break; }
  }
  return result;
}

/// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) { return 0; }
  if (x >= 1) { return 1; }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  const double n = values.size();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (n - 1) / n)};
}

double student_p(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

WelchTest welch(const std::vector<double>& first, const std::vector<double>& second) {
  const Estimate a = estimate(first);
  const Estimate b = estimate(second);
  const double difference = b.mean - a.mean;
  const double va = a.std_error * a.std_error;
  const double vb = b.std_error * b.std_error;
  if (va + vb == 0) { return {difference, difference, difference, difference == 0 ? 1.0 : 0.0}; }
  const double na = first.size();
  const double nb = second.size();
  // Welch and Satterthwaite's degrees of freedom.
  const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
  const double error = std::sqrt(va + vb);
  const double half = student_quantile(static_cast<std::size_t>(freedom)) * error;  // rounded down
  return {difference, difference - half, difference + half, student_p(difference / error, freedom)};
}

}  // namespace penstock::cage2
