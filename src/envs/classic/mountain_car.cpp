#include "penstock/envs/classic/mountain_car.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/random.h"

namespace penstock {
namespace {

constexpr double kMinPosition = -1.2;
constexpr double kMaxPosition = 0.6;
constexpr double kMaxSpeed = 0.07;
constexpr double kGoalPosition = 0.5;
constexpr double kForce = 0.001;
constexpr double kGravity = 0.0025;

}  // namespace

void MountainCar::reset(std::uint64_t seed, Row row) {
  state_ = {Random(seed).uniform(-0.6, -0.4), 0};
  observe(row);
}

Outcome MountainCar::step(std::int64_t action, Row row) {
  auto& [position, velocity] = state_;
  velocity += (action - 1) * kForce + std::cos(3 * position) * -kGravity;
  velocity = std::clamp(velocity, -kMaxSpeed, kMaxSpeed);
  position = std::clamp(position + velocity, kMinPosition, kMaxPosition);
  if (position == kMinPosition && velocity < 0) { velocity = 0; }
  observe(row);
  const bool arrived = position >= kGoalPosition && velocity >= 0;
  return {.reward = -1, .terminated = arrived, .success = arrived ? Success::yes : Success::no};
}

void MountainCar::observe(Row row) const {
  row.obs[0] = state_[0];
  row.obs[1] = state_[1];
}

}  // namespace penstock
