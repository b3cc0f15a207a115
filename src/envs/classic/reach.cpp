#include "penstock/envs/classic/reach.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/random.h"

namespace penstock {
namespace {

constexpr double kStride = 0.2;
constexpr double kNear = 0.1;

}  // namespace

EnvSpec ReachEnv::spec() const {
  return {Layout({{"position", {2}}, {"target", {2}}}), Box{{-1, -1}, {1, 1}}, max_steps_};
}

void ReachEnv::reset(std::uint64_t seed, Row row) {
  Random random(seed);
  for (double& value : position_) { value = random.uniform(-1, 1); }
  for (double& value : target_) { value = random.uniform(-1, 1); }
  observe(row);
}

Outcome ReachEnv::step(std::span<const float> action, Row row) {
  for (std::size_t i = 0; i < position_.size(); ++i) {
    const double move = kStride * std::clamp(action[i], -1.0F, 1.0F);
    position_[i] = std::clamp(position_[i] + move, -1.0, 1.0);
  }
  observe(row);
  const double distance = std::hypot(position_[0] - target_[0], position_[1] - target_[1]);
  const bool arrived = distance < kNear;
  return {.reward = static_cast<float>(-distance),
          .terminated = arrived,
          .success = arrived ? Success::yes : Success::no};
}

void ReachEnv::observe(Row row) const {
  for (std::size_t i = 0; i < position_.size(); ++i) {
    row.obs[i] = position_[i];
    row.obs[2 + i] = target_[i];
  }
}

}  // namespace penstock
