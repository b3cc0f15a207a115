#include "penstock/domains/cage2/search/gaussian_process.h"

#include <algorithm>
#include <cmath>

#include "domains/cage2/search/regression.h"

namespace penstock::cage2::search {
namespace {

using detail::Matrix;
using detail::Regression;

// Covariances of what was measured with every order.  [n, 120]
Matrix reach_of(std::span<const Measurement> data, const Hyper& hyper) {
  const auto n = static_cast<Eigen::Index>(data.size());
  Matrix reach(n, kNumOrders);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (int order = 0; order < kNumOrders; ++order) {
      reach(i, order) =
          hyper.signal_variance * std::exp(-hyper.lambda * kendall_distance(data[i].order, order));
    }
  }
  return reach;
}

}  // namespace

std::vector<double> mallows_matrix(double lambda) {
  std::vector<double> matrix;
  matrix.reserve(kNumOrders * kNumOrders);
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) {
      matrix.push_back(std::exp(-lambda * kendall_distance(a, b)));
    }
  }
  return matrix;
}

double centre_of(std::span<const Measurement> data) {
  double sum = 0;
  for (const Measurement& each : data) { sum += each.value; }
  return data.empty() ? 0 : sum / static_cast<double>(data.size());
}

Posterior posterior(std::span<const Measurement> data, const Hyper& hyper,
                    std::optional<double> centre) {
  const double base = centre.value_or(centre_of(data));
  Posterior result;
  result.mean.fill(base);
  result.std.fill(std::sqrt(hyper.signal_variance));
  if (data.empty()) { return result; }

  const Regression regression(data, hyper, base);
  const Matrix reach = reach_of(data, hyper);
  const Matrix known = regression.factor.matrixL().solve(reach);
  for (int order = 0; order < kNumOrders; ++order) {
    result.mean[order] += reach.col(order).dot(regression.alpha);
    const double variance = hyper.signal_variance - known.col(order).squaredNorm();
    result.std[order] = std::sqrt(std::max(variance, 0.0));
  }
  return result;
}

Contrast contrast(std::span<const Measurement> data, const Hyper& hyper, const Weights& weights) {
  const Eigen::Map<const detail::Vector> w(weights.data(), kNumOrders);
  double prior = 0;
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) {
      prior += w[a] * w[b] * std::exp(-hyper.lambda * kendall_distance(a, b));
    }
  }
  prior *= hyper.signal_variance;
  const double base = centre_of(data);
  if (data.empty()) { return {base * w.sum(), std::sqrt(std::max(prior, 0.0))}; }
  const Regression regression(data, hyper, base);
  const detail::Vector reach = reach_of(data, hyper) * w;
  const detail::Vector known = regression.factor.matrixL().solve(reach);
  return {base * w.sum() + reach.dot(regression.alpha),
          std::sqrt(std::max(prior - known.squaredNorm(), 0.0))};
}

double log_marginal(std::span<const Measurement> data, const Hyper& hyper) {
  return Regression(data, hyper, centre_of(data)).log_marginal();
}

std::array<double, 3> log_marginal_gradient(std::span<const Measurement> data, const Hyper& hyper) {
  const auto slope = slope_of(Regression(data, hyper, centre_of(data)), hyper);
  return {slope.gradient[0], slope.gradient[1], slope.gradient[2]};
}

}  // namespace penstock::cage2::search
