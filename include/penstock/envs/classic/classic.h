#pragma once
#include <vector>

#include "penstock/core/env/vec_env.h"

namespace penstock {

/// The catalog lines of this module: four classic control tasks that follow Gymnasium, and five
/// tiny envs that a right learner solves in seconds.
/// cartpole, acrobot, mountain_car, pendulum; identity, bandit, masked, multi, reach.
std::vector<EnvEntry> classic_envs();

}  // namespace penstock
