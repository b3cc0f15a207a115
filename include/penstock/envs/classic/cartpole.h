#pragma once
#include <array>
#include <cstdint>
#include <numbers>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"
#include "penstock/envs/classic/sin_cos.h"

namespace penstock {

/// CartPole-v1: keep a pole upright on a cart by pushing the cart left (0) or right (1). Reward 1
/// per step; terminated when the pole leans more than 12 degrees or the cart leaves +-2.4.
/// Observation and state: x, x_dot, theta, theta_dot. Formulas, their order and the initial
/// distribution are Gymnasium's. While the pole is up no libm is called: the same bits everywhere.
///
/// Metres, radians and seconds; 50 steps are a second. Success stays unknown: the best return is
/// max_steps. In the header, so that a batch of them is one loop without calls.
class CartPole {
 public:
  /// No other key: masses and lengths are fixed.
  struct Config {
    std::int64_t max_steps = 500;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit CartPole(const Config& config) : max_steps_(config.max_steps) {}

  /// One part, "obs" {4}.
  [[nodiscard]] EnvSpec spec() const { return {Layout(4), Discrete{2}, max_steps_}; }

  /// All four numbers uniform in [-0.05, 0.05].
  void reset(std::uint64_t seed, Row row) {
    Random random(seed);
    for (double& value : state_) { value = random.uniform(-0.05, 0.05); }
    observe(row);
  }

  /// 1 pushes right, any other action left. Counts no steps: BatchedEnv truncates.
  Outcome step(std::int64_t action, Row row) {
    auto& [x, x_dot, theta, theta_dot] = state_;
    const auto [sin, cos] = detail::sin_cos(theta);
    const double force = action == 1 ? kForce : -kForce;
    const double push = (force + kPoleMoment * (theta_dot * theta_dot) * sin) / kTotalMass;
    const double theta_acc = (kGravity * sin - cos * push) /
                             (kHalfLength * (4.0 / 3.0 - kPoleMass * (cos * cos) / kTotalMass));
    const double x_acc = push - kPoleMoment * theta_acc * cos / kTotalMass;

    x += kTau * x_dot;
    x_dot += kTau * x_acc;
    theta += kTau * theta_dot;
    theta_dot += kTau * theta_acc;
    observe(row);
    return {.reward = 1, .terminated = fallen()};
  }

  /// Loading throws DataError for what is not finite.
  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(detail::all_finite(state_)); }
  }

 private:
  static constexpr double kGravity = 9.8;   // m/s^2
  static constexpr double kPoleMass = 0.1;  // kg; the cart has 1
  static constexpr double kTotalMass = kPoleMass + 1.0;
  static constexpr double kHalfLength = 0.5;  // m, of the pole
  static constexpr double kPoleMoment = kPoleMass * kHalfLength;
  static constexpr double kForce = 10.0;                                // N
  static constexpr double kTau = 0.02;                                  // seconds per step
  static constexpr double kMaxX = 2.4;                                  // m
  static constexpr double kMaxTheta = 12 * 2 * std::numbers::pi / 360;  // radians

  /// At the edge it has not fallen yet.
  [[nodiscard]] bool fallen() const {
    const auto& [x, x_dot, theta, theta_dot] = state_;
    return x < -kMaxX || x > kMaxX || theta < -kMaxTheta || theta > kMaxTheta;
  }

  void observe(Row row) const {
    for (std::size_t i = 0; i < state_.size(); ++i) { row.obs[i] = state_[i]; }
  }

  std::array<double, 4> state_{};  // x, x_dot, theta, theta_dot
  std::int64_t max_steps_;
};

}  // namespace penstock
