#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// Pendulum-v1: swing a pendulum up and hold it by a torque in [-2, 2]. The reward is minus a cost
/// of angle, speed and torque; episodes are only cut off. State: theta (unwrapped), theta_dot; the
/// observation is cos(theta), sin(theta), theta_dot. Formulas, their order and the initial
/// distribution are Gymnasium's; so is the torque's arithmetic in single precision.
///
/// Radians and seconds; a step is 0.05 s, speeds stay within 8. theta is 0 when it stands up. A
/// step's reward is in [-16.3, 0]. Success stays unknown. Calls libm: the last bits may differ
/// between machines.
class Pendulum {
 public:
  /// No other key: mass, length and gravity are fixed.
  struct Config {
    std::int64_t max_steps = 200;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit Pendulum(const Config& config) : max_steps_(config.max_steps) {}

  /// One part, "obs" {3}.
  [[nodiscard]] EnvSpec spec() const {
    return {Layout(3), Box{{-kMaxTorque}, {kMaxTorque}}, max_steps_};
  }
  /// theta uniform in [-pi, pi], theta_dot in [-1, 1].
  void reset(std::uint64_t seed, Row row);
  /// One number, clamped to the bounds. The cost is that of the state before the step.
  Outcome step(std::span<const float> action, Row row);

  /// Loading throws DataError for what is not finite.
  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(detail::all_finite(state_)); }
  }

 private:
  static constexpr float kMaxTorque = 2.0F;

  void observe(Row row) const;

  std::array<double, 2> state_{};  // theta, theta_dot
  std::int64_t max_steps_;
};

}  // namespace penstock
