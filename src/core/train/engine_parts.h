#pragma once
#include <memory>

#include "core/train/learner_thread.h"
#include "core/train/tuner.h"
#include "penstock/core/rollout/sampler.h"
#include "penstock/core/train/engine.h"

namespace penstock {

/// In the order of construction: each part uses those above it.
struct Engine::Parts {
  Parts(const RunPlan& plan, Peers& peers, Carrier* carrier);

  AsyncConfig async;
  RunConfig config;
  std::int64_t lag;  // of a learner beside the sampler of this process
  std::int64_t samples_per_update;
  Shards shards;
  SharedLearner::Join join;
  std::unique_ptr<VecEnv> envs;
  std::shared_ptr<const ActionHead> head;
  Policy policy;
  ThreadPool pool;                           // the sampler's
  std::unique_ptr<ThreadPool> learner_pool;  // null: the same
  std::vector<Fragment> fragments;           // [lag + 1], filled in turns
  std::size_t filling = 0;                   // which of them
  std::unique_ptr<Learner> learner;
  std::shared_ptr<const PolicyShape> shape;
  std::shared_ptr<const PolicyModel> acting;  // the source's version
  std::int64_t num_updates = 0;               // that were taken up: the learner may be ahead
  Sampler* sampler = nullptr;                 // the source, where it is of this process
  std::unique_ptr<FragmentSource> source;

  Tuner threads;
  Tuner blocks;
  double sample_s = 0;  // of the rollout in flight
  double update_s = 0;
  double cpu_before_s = 0;  // when it began
  int choices = 0;
  bool whole = true;
  std::string measurement;
  std::vector<SkippedMinibatch> skipped;
  std::unique_ptr<LearnerThread> aside;  // null: the learner takes turns with the sampler

  [[nodiscard]] Fragment& buffer() { return fragments[filling]; }
  [[nodiscard]] std::unique_ptr<FragmentSource> make_source(const RunPlan& plan, Peers& peers,
                                                            Carrier* carrier);
  /// A new version for whoever acts. The learner must be at rest.
  [[nodiscard]] std::shared_ptr<const PolicyModel> publish() const;
  /// Waits until the learner is.
  void settle() const;
  [[nodiscard]] Learnt learn(Fragment& fragment, double progress);
  /// Of the full fragment, or of an earlier one; empty where none is due yet.
  [[nodiscard]] Learnt hand_over(double progress);
  /// What is told of it, once the sampler acts by it.
  Metrics take_up(Learnt learnt);
  void act_by(std::shared_ptr<const PolicyModel> model);
  void apply_tuning();
  void record_iteration();
};

}  // namespace penstock
