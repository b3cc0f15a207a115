#pragma once
#include <memory>

#include "core/train/tuner.h"
#include "penstock/core/train/engine.h"

namespace penstock {

/// In the order of construction: each part uses those above it.
struct Engine::Parts {
  Parts(const RunPlan& plan, Peers& peers);

  RunConfig config;
  std::int64_t samples_per_update;
  Shards shards;
  SharedLearner::Join join;
  std::unique_ptr<VecEnv> envs;
  std::shared_ptr<const ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Fragment buffer;
  std::unique_ptr<Learner> learner;
  std::shared_ptr<const PolicyShape> shape;
  Sampler sampler;

  Tuner threads;
  Tuner blocks;
  double sample_s = 0;  // of the rollout in flight
  double update_s = 0;
  double cpu_before_s = 0;  // when it began
  int choices = 0;
  bool whole = true;
  std::string measurement;

  /// A new version for whoever acts.
  [[nodiscard]] std::shared_ptr<const PolicyModel> publish() const;
  void apply_tuning();
  void record_iteration();
};

}  // namespace penstock
