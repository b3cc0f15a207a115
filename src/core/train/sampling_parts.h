#pragma once
#include <memory>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/rollout/shards.h"
#include "penstock/core/train/config.h"

// What samplers here and in other processes are made of.

namespace penstock::detail {

/// One for each shard.
std::vector<std::unique_ptr<Actor>> make_actors(const std::shared_ptr<const PolicyModel>& model,
                                                const Shards& shards);

/// Throws ConfigError where a run cannot have samplers in other processes.
void require_remote(const RunPlan& plan, VecEnv& envs);

}  // namespace penstock::detail
