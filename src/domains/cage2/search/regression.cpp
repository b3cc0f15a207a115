#include "domains/cage2/search/regression.h"

#include <array>
#include <cmath>
#include <numbers>

#include "penstock/core/base/check.h"

namespace penstock::cage2::search::detail {
namespace {

Matrix distances_of(std::span<const Measurement> data) {
  const auto n = static_cast<Eigen::Index>(data.size());
  Matrix distance(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      distance(i, j) = kendall_distance(data[i].order, data[j].order);
    }
  }
  return distance;
}

// The same order measured twice without noise has no inverse; a trace of noise gives it one.
Eigen::LLT<Matrix> factor_of(Matrix covariance, double scale) {
  Eigen::LLT<Matrix> factor(covariance);
  double jitter = 1e-10 * scale;
  for (int attempt = 0; factor.info() != Eigen::Success; ++attempt, jitter *= 10) {
    PENSTOCK_CHECK(attempt, <, 10);
    covariance.diagonal().array() += jitter;
    factor.compute(covariance);
  }
  return factor;
}

double trace_of_product(const Matrix& a, const Matrix& b) {
  return a.cwiseProduct(b.transpose()).sum();
}

}  // namespace

Regression::Regression(std::span<const Measurement> data, const Hyper& hyper, double centre)
    : distance(distances_of(data)),
      signal(hyper.signal_variance * (-hyper.lambda * distance.array()).exp()),
      value(data.size()) {
  Matrix covariance = signal;
  for (Eigen::Index i = 0; i < value.size(); ++i) {
    value[i] = data[i].value - centre;
    covariance(i, i) += data[i].variance + hyper.noise_variance;
  }
  factor = factor_of(covariance, hyper.signal_variance);
  alpha = factor.solve(value);
}

double Regression::log_marginal() const {
  const double log_det = 2 * factor.matrixLLT().diagonal().array().log().sum();
  return -0.5 * (value.dot(alpha) + log_det + value.size() * std::log(2 * std::numbers::pi));
}

// With K the covariance, K_i its derivatives by the logarithms and W = alpha alpha' - K^-1:
// gradient_i = tr(W K_i) / 2,
// hessian_ij = tr(W K_ij) / 2 + tr(K^-1 K_i K^-1 K_j) / 2 - alpha' K_i K^-1 K_j alpha.
Slope slope_of(const Regression& r, const Hyper& hyper) {
  const auto n = r.value.size();
  const Matrix identity = Matrix::Identity(n, n);
  const auto d = (hyper.lambda * r.distance).eval();
  const Matrix by_lambda = -d.cwiseProduct(r.signal);
  const Matrix by_lambda_twice = (d.cwiseProduct(d) - d).cwiseProduct(r.signal);
  const Matrix noise = hyper.noise_variance * identity;
  const Matrix zero = Matrix::Zero(n, n);
  const std::array<const Matrix*, 3> first = {&r.signal, &by_lambda, &noise};
  const std::array<std::array<const Matrix*, 3>, 3> second = {
      {{&r.signal, &by_lambda, &zero},
       {&by_lambda, &by_lambda_twice, &zero},
       {&zero, &zero, &noise}}};
  const Matrix weight = r.alpha * r.alpha.transpose() - r.factor.solve(identity);

  std::array<Matrix, 3> solved;  // K^-1 K_i
  for (int i = 0; i < 3; ++i) { solved[i] = r.factor.solve(*first[i]); }
  Slope slope;
  for (int i = 0; i < 3; ++i) {
    slope.gradient[i] = 0.5 * trace_of_product(weight, *first[i]);
    for (int j = 0; j < 3; ++j) {
      slope.hessian(i, j) = 0.5 * trace_of_product(weight, *second[i][j]) +
                            0.5 * trace_of_product(solved[i], solved[j]) -
                            (*first[i] * r.alpha).dot(solved[j] * r.alpha);
    }
  }
  return slope;
}

}  // namespace penstock::cage2::search::detail
