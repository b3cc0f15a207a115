#pragma once
#include <memory>

#include "penstock/train/engine.h"

namespace penstock {

/// In the order of construction: each part uses those above it.
struct Engine::Parts {
  explicit Parts(const Plan& plan);

  RunConfig config;
  std::unique_ptr<VecEnv> envs;
  Shards shards;
  std::unique_ptr<ActionHead> head;
  Policy policy;
  ThreadPool pool;
  RolloutBuffer buffer;
  Sampler sampler;
  Ppo ppo;
};

}  // namespace penstock
