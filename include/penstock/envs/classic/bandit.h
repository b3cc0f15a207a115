#pragma once
#include <cstdint>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"

namespace penstock {

/// One pull of one of several arms, then terminated. The row is a constant 1. An arm pays its mean,
/// which is 1 for best_arm() and less the further from it, plus normal noise.
///
///     BanditEnv({.num_arms = 10}).best_arm();  // 3, which pays 1 on average
///
/// Every episode has one step. Success stays unknown.
class BanditEnv {
 public:
  /// The keys of `bandit`.
  struct Config {
    std::int64_t num_arms = 10;  // also the number of actions
    double noise = 0.1;          // in units of the reward

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("num_arms", num_arms, "arms to choose from", Range{1, 1e6});
      visit("noise", noise, "standard deviation of the reward", Range{0, 1e6});
    }
  };

  explicit BanditEnv(const Config& config) : config_(config) {}

  /// One part, "obs" {1}.
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{config_.num_arms}}; }
  /// The seed decides the noise of the pull.
  void reset(std::uint64_t seed, Row row);
  /// `action` in [0, num_arms).
  Outcome step(std::int64_t action, Row row);

  /// The best return a policy can have on average is mean(best_arm()), which is 1.
  [[nodiscard]] std::int64_t best_arm() const { return config_.num_arms / 3; }
  /// 1 - |arm - best_arm()| / num_arms.
  [[nodiscard]] double mean(std::int64_t arm) const;

  template <class Archive>
  void state(Archive& archive) {
    archive(random_);
  }

 private:
  Config config_;
  Random random_;  // of the noise
};

}  // namespace penstock
