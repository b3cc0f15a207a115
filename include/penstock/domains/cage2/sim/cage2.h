#pragma once
#include <vector>

#include "penstock/core/env/vec_env.h"
#include "penstock/domains/cage2/sim/opponent.h"

namespace penstock {

/// The catalog lines of this module.
/// The game itself, with workflows, for a defender that is to win it, and for an attacker. Without
/// a loader, opponents are scripts.
std::vector<EnvEntry> cage2_envs(cage2::OpponentLoader load = {});

}  // namespace penstock
