#pragma once
#include <cstdint>

#include "penstock/core/env/env.h"

namespace penstock {

/// An env that only takes time: each step computes for a while, or waits as for a service. For
/// measuring what parallel stepping brings to an env of that cost. Rewards are 1; an episode has
/// 100 steps. The seed is told in the last number of the row, and decides which steps are long.
class LoadEnv {
 public:
  /// The keys of `load`.
  struct Config {
    double busy_us = 0;
    double wait_us = 0;
    std::int64_t long_every = 0;
    double long_times = 10;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("busy_us", busy_us, "microseconds of CPU time that a step computes", Range{0, 1e7});
      visit("wait_us", wait_us, "microseconds that a step waits", Range{0, 1e7});
      visit("long_every", long_every,
            "one step in so many takes longer, which one depends on the episode; 0: none",
            Range{0, 1e6});
      visit("long_times", long_times, "how many times as long it takes", Range{1, 1e6});
    }
  };

  explicit LoadEnv(const Config& config) : config_(config) {}

  /// One part, "obs" {4}.
  [[nodiscard]] EnvSpec spec() const;
  void reset(std::uint64_t seed, Row row);
  /// `action` in [0, 2).
  Outcome step(std::int64_t action, Row row);

  template <class Archive>
  void state(Archive& archive) {
    archive(steps_, mark_);
  }

 private:
  [[nodiscard]] double times() const;

  Config config_;
  std::int32_t steps_ = 0;
  float mark_ = 0;  // of the seed
};

}  // namespace penstock
