#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/base/moments.h"
#include "penstock/core/env/spec.h"

namespace penstock {

/// The normalisation section of a run's config.
struct NormaliseConfig {
  bool obs = false;
  bool reward = false;
  double clip_obs = 10.0;
  double clip_reward = 10.0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("obs", obs, "scale observations by their running mean and deviation");
    visit("reward", reward, "scale rewards by the running deviation of the discounted return");
    visit("clip_obs", clip_obs, "bound of a normalised feature", Range{0.1, 1e6});
    visit("clip_reward", clip_reward, "bound of a normalised reward", Range{0.1, 1e6});
  }
};

/// Running mean and deviation of every feature. During a rollout it stands still; what the rollout
/// saw is gathered per shard and merged at its end, so neither threads nor blocks can matter.
/// At evaluation nobody merges: it is frozen. Names and places in a row stay as they are.
class ObsNormaliser {
 public:
  ObsNormaliser() = default;
  ObsNormaliser(const Layout& layout, double clip);

  /// In place on rows of num_features each.
  void apply(std::span<float> rows) const;
  /// Adds raw rows to a shard's tally.
  void tally(std::span<const float> rows, std::span<Moments> features) const;
  /// Takes a finished rollout's tally in. [num_features]
  void merge(std::span<const Moments> features);

  [[nodiscard]] const std::vector<Moments>& moments() const { return moments_; }
  void set_moments(std::vector<Moments> moments);

 private:
  void refresh();

  std::vector<Moments> moments_;
  std::vector<bool> names_;     // what is left alone
  std::vector<float> bound_;    // of a feature once normalised
  std::vector<float> mean_;     // derived
  std::vector<float> inverse_;  // derived: 1 / deviation
};

}  // namespace penstock
