#pragma once
#include <memory>

#include "penstock/train/engine.h"
#include "train/tuner.h"

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

  Tuner threads;
  Tuner blocks;
  double sample_s = 0;  // of the rollout in flight
  double update_s = 0;
  int choices = 0;
  std::string measurement;

  void apply_tuning();
  void record_iteration();
};

}  // namespace penstock
