#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/core/rollout/shards.h"

namespace penstock {

/// Running deviation of the discounted return, by which rewards are divided.
/// Rewards are divided and clipped, never shifted: 0 stays 0. A rollout is tallied shard by shard,
/// the tallies are merged, then the same rollout's rewards are scaled by the result.
class RewardNormaliser {
 public:
  /// Of no envs.
  RewardNormaliser() = default;
  /// `clip` bounds the size of a scaled reward.
  RewardNormaliser(std::size_t num_envs, double gamma, double clip);

  /// Follows the returns of envs [range) through a rollout's rewards [T, N] and adds them to a
  /// tally.
  /// Moves returns() of these envs on, to 0 where an episode ended. Disjoint ranges may run at the
  /// same time, each with a tally of its own.
  void tally(std::span<const float> rewards, std::span<const bool> ended, EnvRange range,
             Moments& moments);
  /// Adds a rollout's tally, once per rollout.
  void merge(const Moments& moments) { moments_.merge(moments); }
  /// Scales the rewards of envs [range) in place.
  void apply(std::span<float> rewards, EnvRange range) const;

  /// Of all returns so far; variance 1 before the first.
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
