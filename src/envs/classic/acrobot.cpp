#include "penstock/envs/classic/acrobot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "penstock/core/base/random.h"

namespace penstock {
namespace {

using State = std::array<double, 4>;

constexpr double kPi = std::numbers::pi;
constexpr double kDt = 0.2;  // seconds per step
constexpr double kGravity = 9.8;
constexpr double kMaxVelocity1 = 4 * kPi;
constexpr double kMaxVelocity2 = 9 * kPi;
// Both links have mass, length and moment of inertia 1; their centres of mass are in the middle.
constexpr double kCentre = 0.5;
constexpr double kCentreSquared = kCentre * kCentre;

/// The derivative of the state. Factors of one are left out; the order of the rest is Gymnasium's.
State slope(const State& state, double torque) {
  const auto& [theta1, theta2, velocity1, velocity2] = state;
  const double sin2 = std::sin(theta2);
  const double cos2 = std::cos(theta2);
  const double d1 = kCentreSquared + (1 + kCentreSquared + cos2) + 1 + 1;
  const double d2 = (kCentreSquared + kCentre * cos2) + 1;
  const double phi2 = kCentre * kGravity * std::cos(theta1 + theta2 - kPi / 2);
  const double phi1 = -kCentre * (velocity2 * velocity2) * sin2 - velocity2 * velocity1 * sin2 +
                      (kCentre + 1) * kGravity * std::cos(theta1 - kPi / 2) + phi2;
  const double acceleration2 =
      (torque + d2 / d1 * phi1 - kCentre * (velocity1 * velocity1) * sin2 - phi2) /
      (kCentreSquared + 1 - d2 * d2 / d1);
  const double acceleration1 = -(d2 * acceleration2 + phi1) / d1;
  return {velocity1, velocity2, acceleration1, acceleration2};
}

State advance(const State& from, double time, const State& rate) {
  State to;
  for (std::size_t i = 0; i < to.size(); ++i) { to[i] = from[i] + time * rate[i]; }
  return to;
}

State runge_kutta(const State& state, double torque) {
  const State k1 = slope(state, torque);
  const State k2 = slope(advance(state, kDt / 2, k1), torque);
  const State k3 = slope(advance(state, kDt / 2, k2), torque);
  const State k4 = slope(advance(state, kDt, k3), torque);
  State mean;
  for (std::size_t i = 0; i < mean.size(); ++i) { mean[i] = k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]; }
  return advance(state, kDt / 6, mean);
}

/// A few turns at most, because velocities are bounded.
double wrapped(double angle) {
  while (angle > kPi) { angle -= 2 * kPi; }
  while (angle < -kPi) { angle += 2 * kPi; }
  return angle;
}

}  // namespace

void Acrobot::reset(std::uint64_t seed, Row row) {
  Random random(seed);
  // Gymnasium starts from single precision.
  for (double& value : state_) { value = static_cast<float>(random.uniform(-0.1, 0.1)); }
  observe(row);
}

Outcome Acrobot::step(std::int64_t action, Row row) {
  const State next = runge_kutta(state_, action - 1);
  state_ = {wrapped(next[0]), wrapped(next[1]), std::clamp(next[2], -kMaxVelocity1, kMaxVelocity1),
            std::clamp(next[3], -kMaxVelocity2, kMaxVelocity2)};
  observe(row);
  const bool up = -std::cos(state_[0]) - std::cos(state_[1] + state_[0]) > 1;
  return {
      .reward = up ? 0.0F : -1.0F, .terminated = up, .success = up ? Success::yes : Success::no};
}

bool Acrobot::in_bounds() const {
  const State bounds = {kPi, kPi, kMaxVelocity1, kMaxVelocity2};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!(std::abs(state_[i]) <= bounds[i])) { return false; }  // so that NaN fails too
  }
  return true;
}

void Acrobot::observe(Row row) const {
  row.obs[0] = std::cos(state_[0]);
  row.obs[1] = std::sin(state_[0]);
  row.obs[2] = std::cos(state_[1]);
  row.obs[3] = std::sin(state_[1]);
  row.obs[4] = state_[2];
  row.obs[5] = state_[3];
}

}  // namespace penstock
