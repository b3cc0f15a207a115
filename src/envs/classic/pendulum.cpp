#include "penstock/envs/classic/pendulum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "penstock/core/base/random.h"

namespace penstock {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kMaxSpeed = 8;
constexpr double kDt = 0.05;     // seconds per step
constexpr double kGravity = 10;  // mass and length are 1

/// The same angle in [-pi, pi).
double wrapped(double angle) {
  const double turn = std::fmod(angle + kPi, 2 * kPi);
  return (turn < 0 ? turn + 2 * kPi : turn) - kPi;
}

}  // namespace

void Pendulum::reset(std::uint64_t seed, Row row) {
  Random random(seed);
  state_[0] = random.uniform(-kPi, kPi);
  state_[1] = random.uniform(-1, 1);
  observe(row);
}

Outcome Pendulum::step(std::span<const float> action, Row row) {
  auto& [theta, speed] = state_;
  const float torque = std::clamp(action[0], -kMaxTorque, kMaxTorque);
  const double lean = wrapped(theta);
  const double cost = lean * lean + 0.1 * (speed * speed) + 0.001F * (torque * torque);

  speed += (3 * kGravity / 2 * std::sin(theta) + 3.0F * torque) * kDt;
  speed = std::clamp(speed, -kMaxSpeed, kMaxSpeed);
  theta += speed * kDt;
  observe(row);
  return {.reward = static_cast<float>(-cost)};
}

void Pendulum::observe(Row row) const {
  row.obs[0] = std::cos(state_[0]);
  row.obs[1] = std::sin(state_[0]);
  row.obs[2] = state_[1];
}

}  // namespace penstock
