#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/algo/adam.h"
#include "penstock/core/algo/gae_targets.h"
#include "penstock/core/algo/learner.h"

namespace penstock {

/// The a2c section of a run's config.
/// A plain value. Settings are checked against fields() when they are applied; a config that C++
/// code fills by hand is taken as it is.
struct A2cConfig {
  double learning_rate = 1e-3;  // at the run's start
  std::string learning_rate_schedule = "linear";
  double warm_up = 0;
  double gamma = 0.99;  // per step
  double gae_lambda = 1.0;
  double value_weight = 0.5;
  double entropy_weight = 0.0;
  double max_grad_norm = 0.5;  // L2 norm over all parameters, after the shards are summed
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-5;        // added to the root of the second moment
  bool normalise_advantage = false;  // over all samples of the rollout
  std::int64_t max_skipped = 3;      // in a row

  /// Each key once, with its help and its limits.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("learning_rate", learning_rate, "Adam's step size", Range{0, 1});
    visit(
        "learning_rate_schedule", learning_rate_schedule,
        "schedule of the learning rate: constant, linear or cosine down to 0, or points of the run "
        "with their factors, as 0:1,0.5:0.3,1:0");
    visit("warm_up", warm_up, "share of the run in which the learning rate rises, from a tenth",
          Range{0, 1});
    visit("gamma", gamma, "discount of the future", Range{0, 1});
    visit("gae_lambda", gae_lambda, "trace decay of the advantage estimate; 1: plain returns",
          Range{0, 1});
    visit("value_weight", value_weight, "weight of the value loss", Range{0, 1e6});
    visit("entropy_weight", entropy_weight, "weight of the entropy bonus", Range{0, 1e6});
    visit("max_grad_norm", max_grad_norm,
          "largest gradient norm; larger gradients are scaled down; 0: no limit", Range{0, 1e9});
    visit("adam_beta2", adam_beta2, "Adam's memory of squared gradients", Range{0, 0.999999});
    visit("adam_epsilon", adam_epsilon, "Adam's epsilon", Range{0, 1});
    visit("normalise_advantage", normalise_advantage, "to mean 0 and deviation 1 per update");
    visit("max_skipped", max_skipped,
          "updates in a row whose loss or gradient is not finite before the run ends; each is "
          "skipped and dumped",
          Range{1, 1e9});
  }
};

namespace detail {
class Gradients;
class SkippedMinibatches;
}  // namespace detail

/// Advantage actor-critic (Mnih et al., 2016), synchronous: one gradient step on each rollout,
/// which is therefore short (rollout.steps of 5 to 32).
class A2c final : public Learner {
 public:
  /// Copies the config. Computes by the fused kernels where the policy is fused, else by autograd.
  A2c(const A2cConfig& config, const LearnerParts& parts);
  ~A2c() override;

  /// Metrics: train/entropy_loss, explained_variance, learning_rate, loss, policy_gradient_loss and
  /// value_loss, each of the whole rollout; skipped_minibatches counts those of this learner, once
  /// there was one.
  Metrics update(Fragment& rollout, double progress) override;
  std::vector<SkippedMinibatch> take_skipped() override;
  /// Adam's moments, and the running returns that rewards are scaled by.
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

 private:
  [[nodiscard]] Moments advantage_moments(const Fragment& rollout, const at::Tensor& advantage);
  /// What is taken from advantages, and what they are then multiplied by.
  struct Scale {
    double mean = 0;
    double factor = 1;
  };
  Scale differentiate(const Fragment& rollout, const at::Tensor& advantage);
  Scale differentiate_old(Fragment& rollout, const Targets& targets);
  void take_step(const Fragment& rollout, const Targets& targets, const Scale& scale, double rate);
  [[nodiscard]] Metrics report(const Fragment& rollout, const Targets& targets, double rate) const;

  A2cConfig config_;
  LearnerParts parts_;
  GaeTargets targets_;
  Adam adam_;
  std::unique_ptr<detail::Gradients> gradients_;
  std::vector<std::vector<std::int64_t>> samples_;  // [S], of each shard
  std::unique_ptr<detail::SkippedMinibatches> skipped_;
};

/// The catalog's line.
/// Its name is "a2c", its keys are "a2c.gamma" and so on.
AlgorithmEntry a2c_entry();
/// A2C beside the sampler: "impala", with the keys of "a2c" and "async.max_lag" and so on.
AlgorithmEntry impala_entry();

}  // namespace penstock
