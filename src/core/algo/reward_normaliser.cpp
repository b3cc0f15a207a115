#include "penstock/core/algo/reward_normaliser.h"

#include <algorithm>
#include <cmath>

namespace penstock {
namespace {

constexpr double kEpsilon = 1e-8;  // of rewards that never moved

}  // namespace

RewardNormaliser::RewardNormaliser(std::size_t num_envs, double gamma, double clip)
    : gamma_(gamma), clip_(clip), returns_(num_envs, 0.0) {}

void RewardNormaliser::tally(std::span<const float> rewards, std::span<const bool> ended,
                             EnvRange range, Moments& moments) {
  const std::size_t num_envs = returns_.size();
  for (std::size_t row = 0; row < rewards.size(); row += num_envs) {
    for (std::size_t n = range.begin; n < range.end; ++n) {
      returns_[n] = gamma_ * returns_[n] + rewards[row + n];
      moments.add(returns_[n]);
      if (ended[row + n]) { returns_[n] = 0; }
    }
  }
}

void RewardNormaliser::apply(std::span<float> rewards, EnvRange range) const {
  const std::size_t num_envs = returns_.size();
  const double scale = 1.0 / std::sqrt(moments_.variance() + kEpsilon);
  for (std::size_t row = 0; row < rewards.size(); row += num_envs) {
    for (std::size_t n = range.begin; n < range.end; ++n) {
      rewards[row + n] = std::clamp(rewards[row + n] * scale, -clip_, clip_);
    }
  }
}

}  // namespace penstock
