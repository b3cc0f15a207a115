#pragma once
#include "penstock/env/vec_env.h"

namespace penstock {

/// What every env of a catalog must keep, checked through the VecEnv interface with random legal
/// actions. Call it inside a doctest TEST_CASE; link penstock_contract.
///
///  - the parts of the layout tile the row
///  - rows and rewards are finite, every choice has a legal alternative
///  - an end reports the sums seen, writes final_obs, and comes no later than max_episode_steps
///  - the same seed gives the same bytes, another seed others
///  - an env saved in mid-episode goes on identically elsewhere, over the ends of episodes
///  - ranges and threads do not matter
///  - bytes too short or too long are refused with DataError
void check_contract(const EnvEntry& entry);

}  // namespace penstock
