#include "penstock/core/base/student.h"

#include <array>
#include <cmath>
#include <numeric>

namespace penstock {
namespace {

/// Cornish and Fisher's expansion around the normal quantile: right to 5e-4 for more than 30
/// degrees of freedom.
double expanded(double z, std::size_t freedom) {
  const auto n = static_cast<double>(freedom);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n);
}

/// The table's first degrees of freedom, and what comes after them.
double quantile(const std::array<double, 30>& table, double z, std::size_t freedom) {
  return freedom <= table.size() ? table[freedom - 1] : expanded(z, freedom);
}

}  // namespace

double student_quantile(std::size_t freedom) {
  constexpr std::array<double, 30> kTable = {
      12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
      2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
      2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227};
  return quantile(kTable, 1.959963984540054, freedom);
}

double student_quantile_99(std::size_t freedom) {
  constexpr std::array<double, 30> kTable = {
      63.6567, 9.92484, 5.84091, 4.60409, 4.03214, 3.70743, 3.49948, 3.35539, 3.24984, 3.16927,
      3.10581, 3.05454, 3.01228, 2.97684, 2.94671, 2.92078, 2.89823, 2.87844, 2.86093, 2.84534,
      2.83136, 2.81876, 2.80734, 2.79694, 2.78744, 2.77871, 2.77068, 2.76326, 2.75639, 2.75000};
  return quantile(kTable, 2.5758293035489004, freedom);
}

Estimate estimate(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (n - 1) / n)};
}

}  // namespace penstock
