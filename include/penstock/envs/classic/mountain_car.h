#pragma once
#include <array>
#include <cstdint>

#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// MountainCar-v0: rock an underpowered car out of a valley, pushing left (0), not at all (1) or
/// right (2). Reward -1 per step; terminated, with success, at the flag. Observation and state:
/// position, velocity. Formulas, their order and the initial distribution are Gymnasium's.
///
/// Positions are in [-1.2, 0.6] with the flag at 0.5, velocities within 0.07 a step. Success is
/// `no` before the flag, so an episode that is cut off has failed. Calls libm: the last bits may
/// differ between machines.
class MountainCar {
 public:
  /// No other key: force and gravity are fixed.
  struct Config {
    std::int64_t max_steps = 200;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit MountainCar(const Config& config) : max_steps_(config.max_steps) {}

  /// One part, "obs" {2}.
  [[nodiscard]] EnvSpec spec() const { return {Layout(2), Discrete{3}, max_steps_}; }
  /// At rest, at a position uniform in [-0.6, -0.4].
  void reset(std::uint64_t seed, Row row);
  /// `action` in [0, 3). Counts no steps: BatchedEnv truncates.
  Outcome step(std::int64_t action, Row row);

  /// Loading throws DataError for what is not finite.
  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(detail::all_finite(state_)); }
  }

 private:
  void observe(Row row) const;

  std::array<double, 2> state_{};  // position, velocity per step
  std::int64_t max_steps_;
};

}  // namespace penstock
