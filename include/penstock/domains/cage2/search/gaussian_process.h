#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "penstock/domains/cage2/search/order.h"

namespace penstock::cage2::search {

/// What was measured of one order. The variance is that of the value: the standard error squared.
struct Measurement {
  int order = 0;  // by index
  double value = 0;
  double variance = 0;
};

/// The process: two orders at Kendall distance d have covariance signal_variance * exp(-lambda d),
/// the Mallows kernel. It is positive definite for any lambda > 0, being a Gaussian kernel of the
/// pair signs with length scale sqrt(2 / lambda); a Gaussian of the distance itself is not.
struct Hyper {
  double lambda = 0.2;
  double signal_variance = 1;
  double noise_variance = 0;  // of every observation, beside its own
};

/// Row by row, the covariances of all orders for signal variance 1.  [120 * 120]
std::vector<double> mallows_matrix(double lambda);

/// Of the value itself, without noise, for all orders by index.
struct Posterior {
  std::array<double, kNumOrders> mean{};
  std::array<double, kNumOrders> std{};
};

/// The mean of the values: the prior mean, to which the process returns far from data.
double centre_of(std::span<const Measurement> data);

/// The centre is that of the data if not given. Without data, the prior around the centre, 0 if not
/// given.
Posterior posterior(std::span<const Measurement> data, const Hyper& hyper,
                    std::optional<double> centre = {});

/// A sum of the values of all orders, each times its weight: what the process believes of it.
struct Contrast {
  double mean = 0;
  double std = 0;
};
using Weights = std::array<double, kNumOrders>;
Contrast contrast(std::span<const Measurement> data, const Hyper& hyper, const Weights& weights);

/// log p(values | hyper), the values centred.
double log_marginal(std::span<const Measurement> data, const Hyper& hyper);

/// Its derivatives by the logarithms of {signal_variance, lambda, noise_variance}.
std::array<double, 3> log_marginal_gradient(std::span<const Measurement> data, const Hyper& hyper);

/// Ends included.
struct Bounds {
  double low = 0;
  double high = 0;
};

/// Where fit_hyper() looks. A range of one point fixes what it is for.
struct HyperBounds {
  Bounds lambda{2.0 / 900, 2.0 / 0.09};  // length scales of 30 to 0.3
  Bounds signal_variance{1, 1e5};
  Bounds noise_variance{0, 0};
};

/// ML-II: the hyperparameters of the largest marginal likelihood within the bounds, by Newton's
/// method from the best points of a grid. Deterministic. Throws ConfigError on bounds that are not
/// positive (a noise fixed at 0 is fine) or empty, and without data.
Hyper fit_hyper(std::span<const Measurement> data, const HyperBounds& bounds = {});

}  // namespace penstock::cage2::search
