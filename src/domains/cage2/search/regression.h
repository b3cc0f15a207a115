#pragma once
#include <Eigen/Cholesky>
#include <span>

#include "penstock/domains/cage2/search/gaussian_process.h"

namespace penstock::cage2::search::detail {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The data under one choice of hyperparameters, with what every question about them needs.
/// n observations.
struct Regression {
  Matrix distance;            // [n, n]
  Matrix signal;              // [n, n], without noise
  Eigen::LLT<Matrix> factor;  // of signal + noise
  Vector value;               // [n], centred
  Vector alpha;               // [n], (signal + noise)^-1 value

  Regression(std::span<const Measurement> data, const Hyper& hyper, double centre);
  [[nodiscard]] double log_marginal() const;
};

/// How the log marginal likelihood changes with log {signal_variance, lambda, noise_variance}.
struct Slope {
  Eigen::Vector3d gradient;
  Eigen::Matrix3d hessian;
};
Slope slope_of(const Regression& regression, const Hyper& hyper);

}  // namespace penstock::cage2::search::detail
