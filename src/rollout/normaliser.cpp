#include "penstock/rollout/normaliser.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock {
namespace {

constexpr double kEpsilon = 1e-8;  // of a feature that never moved

}  // namespace

ObsNormaliser::ObsNormaliser(const Layout& layout, double clip)
    : moments_(layout.size()), names_(layout.names()) {
  for (const bool name : names_) {
    bound_.push_back(name ? std::numeric_limits<float>::infinity() : static_cast<float>(clip));
  }
  refresh();
}

void ObsNormaliser::apply(std::span<float> rows) const {
  const std::size_t features = mean_.size();
  for (std::size_t row = 0; row < rows.size(); row += features) {
    for (std::size_t f = 0; f < features; ++f) {
      const float z = (rows[row + f] - mean_[f]) * inverse_[f];
      rows[row + f] = std::clamp(z, -bound_[f], bound_[f]);
    }
  }
}

void ObsNormaliser::tally(std::span<const float> rows, std::span<Moments> features) const {
  for (std::size_t row = 0; row < rows.size(); row += features.size()) {
    for (std::size_t f = 0; f < features.size(); ++f) { features[f].add(rows[row + f]); }
  }
}

void ObsNormaliser::merge(std::span<const Moments> features) {
  for (std::size_t f = 0; f < moments_.size(); ++f) { moments_[f].merge(features[f]); }
  refresh();
}

void ObsNormaliser::set_moments(std::vector<Moments> moments) {
  moments_ = std::move(moments);
  refresh();
}

void ObsNormaliser::refresh() {
  mean_.resize(moments_.size());
  inverse_.resize(moments_.size());
  for (std::size_t f = 0; f < moments_.size(); ++f) {
    if (names_[f]) {
      mean_[f] = 0;
      inverse_[f] = 1;
      continue;
    }
    mean_[f] = static_cast<float>(moments_[f].mean);
    inverse_[f] = static_cast<float>(1.0 / std::sqrt(moments_[f].variance() + kEpsilon));
  }
}

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
      rewards[row + n] = static_cast<float>(std::clamp(rewards[row + n] * scale, -clip_, clip_));
    }
  }
}

}  // namespace penstock
