#pragma once
#include <cstdint>

#include "penstock/base/random.h"
#include "penstock/env/env.h"

namespace penstock {

/// One pull of one of several arms, then terminated. The row is a constant 1. An arm pays its mean,
/// which is 1 for best_arm() and less the further from it, plus normal noise.
class BanditEnv {
 public:
  struct Config {
    std::int64_t num_arms = 10;
    double noise = 0.1;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("num_arms", num_arms, "arms to choose from", Range{1, 1e6});
      visit("noise", noise, "standard deviation of the reward", Range{0, 1e6});
    }
  };

  explicit BanditEnv(const Config& config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{config_.num_arms}}; }
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::int64_t action, Row row);

  [[nodiscard]] std::int64_t best_arm() const { return config_.num_arms / 3; }
  [[nodiscard]] double mean(std::int64_t arm) const;

  template <class Archive>
  void state(Archive& archive) {
    archive(random_);
  }

 private:
  Config config_;
  Random random_;
};

}  // namespace penstock
