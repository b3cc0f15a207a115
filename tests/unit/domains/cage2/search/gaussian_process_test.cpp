#include "penstock/domains/cage2/search/gaussian_process.h"

#include <rapidcheck.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "support.h"

namespace gaussian_process_test {

using namespace penstock;
using namespace penstock::cage2::search;
using namespace penstock::cage2::search::test;

namespace {

constexpr double kTight = 1e-8;

struct Drawn {
  std::vector<Measurement> data;
  Hyper hyper;
};

Drawn draw(bool noisy) {
  Drawn drawn;
  drawn.hyper.lambda = *rc::gen::inRange(5, 300) / 100.0;
  drawn.hyper.signal_variance = *rc::gen::inRange(1, 200);
  const auto orders =
      *rc::gen::unique<std::vector<int>>(*rc::gen::inRange(1, 30), rc::gen::inRange(0, kNumOrders));
  for (const int order : orders) {
    const double variance = noisy ? *rc::gen::inRange(1, 900) / 100.0 : 0.0;
    drawn.data.push_back({order, *rc::gen::inRange(-10000, 10000) / 100.0, variance});
  }
  return drawn;
}

double sum_of_deviations(const Posterior& a, const Posterior& b) {
  double sum = 0;
  for (int i = 0; i < kNumOrders; ++i) {
    sum += std::abs(a.mean[i] - b.mean[i]) + std::abs(a.std[i] - b.std[i]);
  }
  return sum;
}

}  // namespace

TEST_CASE("a Gaussian of the Kendall distance is no kernel, the Mallows kernel is") {
  const auto gaussian = [](int a, int b) {
    const double d = kendall_distance(a, b) / 10.0;
    return std::exp(-d * d / (2 * 0.5 * 0.5));
  };
  const auto& eig = golden()["eig"];
  const double broken =
      eig["exp(-(d/10)^2/(2*.5^2)) [seed code idea: RBF on Kendall distance]"]["min"];
  CHECK(eigenvalues(gaussian).minCoeff() == doctest::Approx(broken).epsilon(kTight));
  CHECK(broken == doctest::Approx(-0.685).epsilon(1e-3));

  for (const auto& [name, lambda] :
       {std::pair{"mallows exp(-0.2 d)", 0.2}, {"mallows exp(-1 d)", 1.0}}) {
    const auto values = mallows_eigenvalues(lambda);
    CHECK(std::abs(values.minCoeff() - eig[name]["min"].get<double>()) < kTight);
    CHECK(std::abs(values.maxCoeff() - eig[name]["max"].get<double>()) < kTight);
    CHECK(values.minCoeff() > 0.006);
  }
}

TEST_CASE("the Mallows kernel is positive definite for any lambda") {
  rc::check([] {
    const double lambda = *rc::gen::inRange(1, 2000) / 100.0;
    // A product of ten kernels of one pair each, the smallest eigenvalue is not below theirs.
    RC_ASSERT(mallows_eigenvalues(lambda).minCoeff() > 0.99 * std::pow(1 - std::exp(-lambda), 10));
  });
}

TEST_CASE("posterior and marginal likelihood are those of scikit-learn") {
  const auto& fixed = golden()["fixed"];
  const auto data = golden_data(fixed["noise_var"]);
  const Hyper hyper{.lambda = fixed["lambda"], .signal_variance = fixed["signal_var"]};
  const Posterior found = posterior(data, hyper);
  double worst = 0;
  for (int i = 0; i < kNumOrders; ++i) {
    worst = std::max(worst, std::abs(found.mean[i] - fixed["post_mean"][i].get<double>()));
    worst = std::max(worst, std::abs(found.std[i] - fixed["post_std_latent"][i].get<double>()));
  }
  MESSAGE("largest deviation of mean and standard deviation: ", worst);
  CHECK(worst < kTight);
  CHECK(std::abs(centre_of(data) - fixed["y_mean"].get<double>()) < kTight);
  const double deviation =
      std::abs(log_marginal(data, hyper) - fixed["log_marginal"].get<double>());
  MESSAGE("deviation of the log marginal likelihood: ", deviation);
  CHECK(deviation < kTight);

  // Where the noise is told makes no difference.
  const Hyper shared{hyper.lambda, hyper.signal_variance, fixed["noise_var"]};
  CHECK(sum_of_deviations(posterior(golden_data(0), shared), found) < kTight);
  CHECK(std::abs(log_marginal(golden_data(0), shared) - log_marginal(data, hyper)) < kTight);
}

TEST_CASE("ML-II finds scikit-learn's optimum") {
  const auto& best = golden()["ml2"];
  const auto data = golden_data(0);
  HyperBounds bounds;
  bounds.noise_variance = {1e-3, 1e3};
  const Hyper found = fit_hyper(data, bounds);
  const double value = log_marginal(data, found);
  MESSAGE("above scikit-learn's optimum by ", value - best["log_marginal"].get<double>());
  CHECK(std::abs(value - best["log_marginal"].get<double>()) < kTight);
  const Hyper theirs{best["lambda"], best["signal_var"], best["noise_var"]};
  CHECK(std::abs(log_marginal(data, theirs) - best["log_marginal"].get<double>()) < kTight);
  // Theirs stops where the likelihood is flat to 1e-9, the parameters to 1e-5.
  CHECK(found.lambda == doctest::Approx(theirs.lambda).epsilon(1e-4));
  CHECK(found.signal_variance == doctest::Approx(theirs.signal_variance).epsilon(1e-4));
  CHECK(found.noise_variance == doctest::Approx(1e-3));
  const auto gradient = log_marginal_gradient(data, found);
  CHECK(std::abs(gradient[0]) < 1e-9);
  CHECK(std::abs(gradient[1]) < 1e-9);
  CHECK(gradient[2] < 0);  // held at its lower bound
}

TEST_CASE("the gradient is that of differences") {
  const auto data = golden_data(1.5);
  const Hyper at{.lambda = 0.4, .signal_variance = 40, .noise_variance = 2};
  const auto gradient = log_marginal_gradient(data, at);
  const auto slope = [&](auto member) {
    constexpr double kStep = 1e-5;
    Hyper up = at;
    Hyper down = at;
    up.*member *= std::exp(kStep);
    down.*member *= std::exp(-kStep);
    return (log_marginal(data, up) - log_marginal(data, down)) / (2 * kStep);
  };
  CHECK(gradient[0] == doctest::Approx(slope(&Hyper::signal_variance)).epsilon(1e-6));
  CHECK(gradient[1] == doctest::Approx(slope(&Hyper::lambda)).epsilon(1e-6));
  CHECK(gradient[2] == doctest::Approx(slope(&Hyper::noise_variance)).epsilon(1e-6));
}

TEST_CASE("fitted hyperparameters beat every other choice within their bounds") {
  rc::check([] {
    const Drawn drawn = draw(true);
    const Hyper found = fit_hyper(drawn.data);
    RC_ASSERT(log_marginal(drawn.data, found) >= log_marginal(drawn.data, drawn.hyper) - 1e-9);
    RC_ASSERT(found.noise_variance == 0.0);
  });
}

TEST_CASE("without noise the process goes through what was measured") {
  rc::check([] {
    const Drawn drawn = draw(false);
    const Posterior found = posterior(drawn.data, drawn.hyper);
    for (const Measurement& each : drawn.data) {
      RC_ASSERT(std::abs(found.mean[each.order] - each.value) < 1e-5);
      RC_ASSERT(found.std[each.order] < 1e-3);
    }
  });
}

TEST_CASE("an observation never makes anything less certain, nor does its order matter") {
  rc::check([] {
    Drawn drawn = draw(true);
    const double centre = centre_of(drawn.data);
    const Posterior all = posterior(drawn.data, drawn.hyper, centre);
    std::reverse(drawn.data.begin(), drawn.data.end());
    RC_ASSERT(sum_of_deviations(posterior(drawn.data, drawn.hyper, centre), all) < 1e-6);
    drawn.data.pop_back();
    const Posterior fewer = posterior(drawn.data, drawn.hyper, centre);
    for (int i = 0; i < kNumOrders; ++i) { RC_ASSERT(all.std[i] <= fewer.std[i] + 1e-9); }
  });
}

TEST_CASE("a noisy observation weighs less") {
  const Hyper hyper{.lambda = 0.3, .signal_variance = 10};
  const std::vector<Measurement> even{{0, -1, 1}, {60, 1, 1}};
  std::vector<Measurement> uneven = even;
  uneven[1].variance = 50;
  CHECK(posterior(uneven, hyper).mean[60] < posterior(even, hyper).mean[60]);
  CHECK(posterior(uneven, hyper).std[60] > posterior(even, hyper).std[60]);
}

TEST_CASE("edges: no data, one order measured twice, bounds that cannot be") {
  const Posterior prior = posterior({}, {.lambda = 1, .signal_variance = 9}, -5.0);
  CHECK(prior.mean[7] == -5);
  CHECK(prior.std[7] == 3);
  const std::vector<Measurement> twice{{3, 1.0, 0}, {3, 2.0, 0}};
  CHECK(posterior(twice, {.lambda = 1, .signal_variance = 100}).mean[3] ==
        doctest::Approx(1.5).epsilon(1e-6));
  CHECK(std::isfinite(log_marginal(twice, fit_hyper(twice))));
  CHECK_THROWS_AS(fit_hyper({}), ConfigError);
  HyperBounds bounds;
  bounds.lambda = {0, 1};
  CHECK_THROWS_AS(fit_hyper(twice, bounds), ConfigError);
  bounds.lambda = {2, 1};
  CHECK_THROWS_AS(fit_hyper(twice, bounds), ConfigError);
}

TEST_CASE("a contrast is a weighted sum under the joint posterior of all orders") {
  const Hyper hyper{.lambda = 0.3, .signal_variance = 40};
  const std::vector<Measurement> data = {{3, -50, 4}, {60, -44, 1}, {119, -61, 2}};
  const auto n = static_cast<Eigen::Index>(data.size());
  const auto kernel = [&](int a, int b) {
    return hyper.signal_variance * std::exp(-hyper.lambda * kendall_distance(a, b));
  };
  // The textbook formulas with a plain inverse.
  Eigen::MatrixXd noisy(n, n);
  Eigen::MatrixXd reach(n, kNumOrders);
  Eigen::MatrixXd prior(kNumOrders, kNumOrders);
  Eigen::VectorXd value(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    value[i] = data[i].value + 155.0 / 3;
    for (Eigen::Index j = 0; j < n; ++j) {
      noisy(i, j) = kernel(data[i].order, data[j].order) + (i == j ? data[i].variance : 0);
    }
    for (int b = 0; b < kNumOrders; ++b) { reach(i, b) = kernel(data[i].order, b); }
  }
  for (int a = 0; a < kNumOrders; ++a) {
    for (int b = 0; b < kNumOrders; ++b) { prior(a, b) = kernel(a, b); }
  }
  const Eigen::MatrixXd inverse = noisy.inverse();
  const Eigen::VectorXd mean = reach.transpose() * inverse * value;
  const Eigen::MatrixXd joint = prior - reach.transpose() * inverse * reach;

  Weights weights{};
  Eigen::VectorXd w = Eigen::VectorXd::Zero(kNumOrders);
  for (const auto& [order, weight] : {std::pair{3, 0.5}, {7, 0.5}, {60, -1.0}}) {
    weights[order] = w[order] = weight;
  }
  const Contrast found = contrast(data, hyper, weights);
  CHECK(found.mean == doctest::Approx(w.dot(mean)).epsilon(kTight));
  CHECK(found.std == doctest::Approx(std::sqrt(w.dot(joint * w))).epsilon(kTight));

  Weights one{};
  one[17] = 1;
  CHECK(contrast(data, hyper, one).mean == doctest::Approx(posterior(data, hyper).mean[17]));
  CHECK(contrast(data, hyper, one).std == doctest::Approx(posterior(data, hyper).std[17]));
  CHECK(contrast({}, hyper, one).std == doctest::Approx(std::sqrt(40.0)));
}

}  // namespace gaussian_process_test
