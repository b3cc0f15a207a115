#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/algo/adam.h"
#include "penstock/core/algo/gae_targets.h"
#include "penstock/core/algo/learner.h"
#include "penstock/core/algo/ppo_loss.h"
#include "penstock/core/base/config.h"

namespace penstock {

/// The ppo section of a run's config.
/// A plain value. Settings are checked against fields() when they are applied; a config that C++
/// code fills by hand is taken as it is.
struct PpoConfig {
  double learning_rate = 1e-3;  // at the run's start
  std::string learning_rate_schedule = "linear";
  double warm_up = 0;
  double gamma = 0.99;  // per step
  double gae_lambda = 0.95;
  double clip = 0.2;  // the ratio counts within [1 - clip, 1 + clip]
  std::string clip_schedule = "constant";
  double value_clip = 0.0;  // in units of the return
  double value_weight = 0.5;
  double entropy_weight = 0.0;
  double max_grad_norm = 0.5;  // L2 norm over all parameters, after the shards are summed
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-5;  // added to the root of the second moment
  double target_kl = 0.0;      // nats; looked at after each epoch
  bool normalise_advantage = true;
  std::int64_t policy_epochs = 8;  // epochs of both come first, the rest are of one alone
  std::int64_t value_epochs = 8;
  std::int64_t minibatch = 512;      // over all shards; rollouts are cut evenly into parts near it
  std::int64_t update_interval = 1;  // they make one longer fragment
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
    visit("gae_lambda", gae_lambda, "trace decay of the advantage estimate", Range{0, 1});
    visit("clip", clip, "how far the probability ratio may move", Range{0, 10});
    visit("clip_schedule", clip_schedule, "schedule of the clip, as of the learning rate");
    visit("value_clip", value_clip, "how far the value may move in an update; 0: any",
          Range{0, 1e9});
    visit("value_weight", value_weight, "weight of the value loss", Range{0, 1e6});
    visit("entropy_weight", entropy_weight, "weight of the entropy bonus", Range{0, 1e6});
    visit("max_grad_norm", max_grad_norm,
          "largest gradient norm; larger gradients are scaled down; 0: no limit", Range{0, 1e9});
    visit("adam_beta2", adam_beta2, "Adam's memory of squared gradients", Range{0, 0.999999});
    visit("adam_epsilon", adam_epsilon, "Adam's epsilon", Range{0, 1});
    visit("target_kl", target_kl,
          "the policy's epochs end once an epoch's mean KL exceeds it; 0: never", Range{0, 1e6});
    visit("normalise_advantage", normalise_advantage, "to mean 0 and deviation 1 per minibatch");
    visit("policy_epochs", policy_epochs, "passes over the rollout for the policy", Range{0, 1000});
    visit("value_epochs", value_epochs, "passes over the rollout for the value", Range{0, 1000});
    visit("minibatch", minibatch, "samples per gradient step", Range{1, 1e9});
    visit("update_interval", update_interval, "rollouts gathered per update", Range{1, 1e6});
    visit("max_skipped", max_skipped,
          "minibatches in a row whose loss or gradient is not finite before the run ends; each is "
          "skipped and dumped",
          Range{1, 1e9});
  }
};

/// How many rows autograd gets at once: a shard's part of a minibatch is split into pieces whose
/// activations take about a quarter of a gigabyte. A function of the network, never of the machine.
/// At least 1.
std::int64_t rows_per_piece(const Network& network);

namespace detail {
class Gradients;
class SkippedMinibatches;
struct UpdateSums;
}  // namespace detail

/// Proximal policy optimisation (Schulman et al., 2017) on fixed shards: each shard computes the
/// gradient of its part of a minibatch on its own replica, the parts are summed up the tree, one
/// Adam step follows. No sample crosses a thread, and the result does not depend on how many there
/// are.
class Ppo final : public Learner {
 public:
  /// Copies the config. Computes by the fused kernels where the policy is fused, else by autograd.
  Ppo(const PpoConfig& config, const LearnerParts& parts);
  ~Ppo() override;

  /// Waits for the device once (once per epoch when target_kl is set).
  /// Metrics, all under train/ and means over the update's minibatches: approx_kl, clip_fraction,
  /// entropy_loss, loss, policy_gradient_loss, value_loss; and clip_range, explained_variance and
  /// learning_rate of the update. skipped_minibatches counts those of this learner, once there was
  /// one.
  Metrics update(Fragment& rollout, double progress) override;
  std::vector<SkippedMinibatch> take_skipped() override;
  /// Adam's moments, and the running returns that rewards are scaled by. Shuffles need no state:
  /// they are a function of (seed, shard, epoch).
  [[nodiscard]] LearnerState save() const override;
  void load(const LearnerState& state) override;

  /// Lives as long as the learner.
  [[nodiscard]] Adam& optimiser() { return adam_; }

 private:
  struct Epoch;

  void run_epoch(Epoch& epoch);
  [[nodiscard]] std::int64_t num_minibatches(const Fragment& rollout) const;
  void shuffle(Epoch& epoch, std::size_t shard);
  void normalise_advantages(Epoch& epoch) const;
  void learn_minibatch(Epoch& epoch, std::int64_t minibatch);
  void skip_minibatch(const Epoch& epoch, std::int64_t minibatch);
  [[nodiscard]] detail::UpdateSums total_sums() const;
  [[nodiscard]] Metrics report(const Fragment& rollout, const Targets& targets) const;

  PpoConfig config_;
  LearnerParts parts_;
  GaeTargets targets_;
  Adam adam_;
  std::unique_ptr<detail::Gradients> gradients_;
  PpoLossConfig loss_config_;
  double learning_rate_ = 0;
  std::vector<std::vector<std::int64_t>> order_;  // [S][T * n], its samples in the epoch's order
  std::unique_ptr<detail::SkippedMinibatches> skipped_;

  /// Minibatches learnt from in this update.
  struct Learnt {
    std::int64_t all = 0;
    std::int64_t policy = 0;
    std::int64_t value = 0;
  };
  Learnt learnt_;
};

/// The catalog's line.
/// Its name is "ppo", its keys are "ppo.clip" and so on.
AlgorithmEntry ppo_entry();
/// PPO beside the sampler: "appo", with the keys of "ppo" and "async.max_lag" and so on.
AlgorithmEntry appo_entry();
/// The config of a factory that one of these made; null for another algorithm's.
/// Lives as long as the factory.
const PpoConfig* ppo_config(const LearnerFactory& factory);

}  // namespace penstock
