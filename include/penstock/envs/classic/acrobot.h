#pragma once
#include <array>
#include <cstdint>

#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// Acrobot-v1: swing a two-link arm above the bar by a torque of -1 (0), none (1) or +1 (2) on the
/// joint between the links. Reward -1 per step, 0 on the last; terminated, with success, when the
/// tip is up. State: theta1, theta2 and their velocities; the observation has cosine and sine of
/// each angle instead. Runge-Kutta, "book" dynamics and the initial distribution are Gymnasium's.
///
/// Observation: cos(theta1), sin(theta1), cos(theta2), sin(theta2), velocity1, velocity2. Angles
/// are radians, velocities radians per second within 4 pi and 9 pi. A step is 0.2 s. Success is
/// `no` while the tip is down, so an episode that is cut off has failed. Calls libm: the last bits
/// may differ between machines.
class Acrobot {
 public:
  /// No other key: masses and lengths are fixed.
  struct Config {
    std::int64_t max_steps = 500;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit Acrobot(const Config& config) : max_steps_(config.max_steps) {}

  /// One part, "obs" {6}.
  [[nodiscard]] EnvSpec spec() const { return {Layout(6), Discrete{3}, max_steps_}; }
  /// All four numbers uniform in [-0.1, 0.1].
  void reset(std::uint64_t seed, Row row);
  /// `action` in [0, 3). Counts no steps: BatchedEnv truncates.
  Outcome step(std::int64_t action, Row row);

  /// Loading throws DataError for angles and velocities out of bounds.
  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(in_bounds()); }
  }

 private:
  [[nodiscard]] bool in_bounds() const;
  void observe(Row row) const;

  std::array<double, 4> state_{};  // theta1, theta2, velocity1, velocity2
  std::int64_t max_steps_;
};

}  // namespace penstock
