#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "penstock/base/config.h"
#include "penstock/env/spec.h"
#include "penstock/rollout/shards.h"

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

/// Running deviation of the discounted return, by which rewards are divided.
class RewardNormaliser {
 public:
  RewardNormaliser() = default;
  RewardNormaliser(std::size_t num_envs, double gamma, double clip);

  /// Follows the returns of envs [range) through a rollout's rewards [T, N] and adds them to a
  /// tally.
  void tally(std::span<const float> rewards, std::span<const bool> ended, EnvRange range,
             Moments& moments);
  void merge(const Moments& moments) { moments_.merge(moments); }
  /// Scales the rewards of envs [range) in place.
  void apply(std::span<float> rewards, EnvRange range) const;

  [[nodiscard]] const Moments& moments() const { return moments_; }
  void set_moments(const Moments& moments) { moments_ = moments; }
  [[nodiscard]] std::vector<double>& returns() { return returns_; }  // [N], part of the run's state
  [[nodiscard]] const std::vector<double>& returns() const { return returns_; }

 private:
  double gamma_ = 0.99;
  double clip_ = 10;
  Moments moments_;
  std::vector<double> returns_;
};

}  // namespace penstock
