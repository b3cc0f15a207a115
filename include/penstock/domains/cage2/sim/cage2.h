#pragma once
#include <vector>

#include "penstock/core/env/vec_env.h"

namespace penstock {

/// The catalog lines of this module.
/// The game itself, with workflows, and for a defender that is to win it.
std::vector<EnvEntry> cage2_envs();

}  // namespace penstock
