#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nn/heads.h"
#include "penstock/base/errors.h"
#include "penstock/base/random.h"

namespace penstock::detail {
namespace {

const double kHalfLog2Pi = 0.5 * std::log(2 * std::numbers::pi);

/// log |d tanh(u) / du|, stable for large |u|.
double log_slope(double u) {
  return 2 *
         (std::numbers::ln2 - u - std::log1p(std::exp(-2 * std::abs(u))) - std::max(0.0, -2 * u));
}

}  // namespace

GaussianHead::GaussianHead(Box box, bool squash)
    : box_(std::move(box)), dims_(box_.low.size()), squash_(squash) {
  for (std::size_t d = 0; d < dims_ && squash_; ++d) {
    if (!std::isfinite(box_.low[d]) || !std::isfinite(box_.high[d])) {
      throw ConfigError(
          "net.squash = true: the env's action box has no finite bounds to squash into");
    }
  }
}

ActionTerms GaussianHead::evaluate(const at::Tensor& params, const at::Tensor& actions,
                                   const at::Tensor&) const {
  const auto dims = static_cast<std::int64_t>(dims_);
  const at::Tensor mean = params.narrow(1, 0, dims);
  const at::Tensor log_std = params.narrow(1, dims, dims);
  const at::Tensor z = (actions - mean) * (-log_std).exp();
  at::Tensor log_prob = (z.square() * -0.5 - log_std - kHalfLog2Pi).sum(1);
  if (squash_) {
    // A change of variables that depends on the action only: it cancels in ratios, but log_prob
    // stays the log-density of what the env received.
    log_prob = log_prob - (2 * (std::numbers::ln2 - actions - at::softplus(-2 * actions))).sum(1);
    for (std::size_t d = 0; d < dims_; ++d) {
      log_prob = log_prob - std::log(0.5 * (box_.high[d] - box_.low[d]));
    }
  }
  return {log_prob, (log_std + (0.5 + kHalfLog2Pi)).sum(1)};
}

void GaussianHead::sample(const ActionBlock& block, const ActionNoise& noise) const {
  const std::size_t rows = block.params.size() / num_params();
  for (std::size_t i = 0; i < rows; ++i) {
    Random random({.seed = noise.seed,
                   .owner = static_cast<std::uint32_t>(noise.first_env + i),
                   .episode = noise.step,
                   .stream = Stream::action});
    const std::span<const float> mean = block.params.subspan(2 * i * dims_, dims_);
    const std::span<const float> log_std = block.params.subspan((2 * i + 1) * dims_, dims_);
    double log_prob = 0;
    for (std::size_t d = 0; d < dims_; ++d) {
      const double z = random.normal();
      const double point = mean[d] + std::exp(double{log_std[d]}) * z;
      log_prob += -0.5 * z * z - log_std[d] - kHalfLog2Pi;
      if (squash_) { log_prob -= log_slope(point) + std::log(0.5 * (box_.high[d] - box_.low[d])); }
      block.points[i * dims_ + d] = static_cast<float>(point);
    }
    if (!std::isfinite(log_prob)) {
      throw DataError("env " + std::to_string(noise.first_env + i) +
                      ": the policy's output is not finite");
    }
    block.log_prob[i] = static_cast<float>(log_prob);
  }
}

void GaussianHead::mode(const ActionBlock& block) const {
  const std::size_t rows = block.params.size() / num_params();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span<const float> mean = block.params.subspan(2 * i * dims_, dims_);
    std::copy(mean.begin(), mean.end(),
              block.points.begin() + static_cast<std::ptrdiff_t>(i * dims_));
  }
}

void GaussianHead::to_env(std::span<const float> points, std::span<float> actions) const {
  for (std::size_t k = 0; k < points.size(); ++k) {
    const float low = box_.low[k % dims_];
    const float high = box_.high[k % dims_];
    const float inside =
        squash_ ? low + 0.5F * (std::tanh(points[k]) + 1.0F) * (high - low) : points[k];
    actions[k] = std::clamp(inside, low, high);
  }
}

}  // namespace penstock::detail

namespace penstock {

std::unique_ptr<ActionHead> make_action_head(const ActionSpec& spec, bool squash) {
  if (spec.continuous()) { return std::make_unique<detail::GaussianHead>(spec.box(), squash); }
  if (squash) { throw ConfigError("net.squash = true: only box actions can be squashed"); }
  return std::make_unique<detail::CategoricalHead>(spec);
}

}  // namespace penstock
