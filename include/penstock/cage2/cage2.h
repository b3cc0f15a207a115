#pragma once
#include <vector>

#include "penstock/env/vec_env.h"

namespace penstock {

/// The catalog lines of this module.
std::vector<EnvEntry> cage2_envs();

}  // namespace penstock
