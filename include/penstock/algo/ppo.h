#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/algo/adam.h"
#include "penstock/algo/ppo_loss.h"
#include "penstock/base/config.h"
#include "penstock/base/thread_pool.h"
#include "penstock/nn/action_head.h"
#include "penstock/nn/policy.h"
#include "penstock/rollout/buffer.h"
#include "penstock/rollout/shards.h"

namespace penstock {

/// Named numbers of one update, as CONVENTIONS spells them ("train/approx_kl").
using Metrics = std::vector<std::pair<std::string, double>>;

/// The ppo section of a run's config.
struct PpoConfig {
  double learning_rate = 1e-3;
  std::string learning_rate_schedule = "linear";
  double gamma = 0.99;
  double gae_lambda = 0.95;
  double clip = 0.2;
  std::string clip_schedule = "constant";
  double value_clip = 0.0;
  double value_weight = 0.5;
  double entropy_weight = 0.0;
  double max_grad_norm = 0.5;
  double adam_beta2 = 0.999;
  double adam_epsilon = 1e-5;
  double target_kl = 0.0;
  bool normalise_advantage = true;
  std::int64_t policy_epochs = 8;
  std::int64_t value_epochs = 8;
  std::int64_t minibatch = 512;
  std::int64_t update_interval = 1;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit("learning_rate", learning_rate, "Adam's step size", Range{0, 1});
    visit("learning_rate_schedule", learning_rate_schedule, "over the run: as it is, or down to 0",
          Choices{"constant", "linear"});
    visit("gamma", gamma, "discount of the future", Range{0, 1});
    visit("gae_lambda", gae_lambda, "trace decay of the advantage estimate", Range{0, 1});
    visit("clip", clip, "how far the probability ratio may move", Range{0, 10});
    visit("clip_schedule", clip_schedule, "over the run: as it is, or down to 0",
          Choices{"constant", "linear"});
    visit("value_clip", value_clip, "how far the value may move in an update; 0: any",
          Range{0, 1e9});
    visit("value_weight", value_weight, "of the value loss", Range{0, 1e6});
    visit("entropy_weight", entropy_weight, "of the entropy bonus", Range{0, 1e6});
    visit("max_grad_norm", max_grad_norm, "gradients are scaled down to it; 0: never",
          Range{0, 1e9});
    visit("adam_beta2", adam_beta2, "Adam's memory of squared gradients", Range{0, 0.999999});
    visit("adam_epsilon", adam_epsilon, "Adam's epsilon", Range{0, 1});
    visit("target_kl", target_kl,
          "the policy's epochs end once an epoch's mean KL exceeds it; 0: never", Range{0, 1e6});
    visit("normalise_advantage", normalise_advantage, "to mean 0 and deviation 1 per minibatch");
    visit("policy_epochs", policy_epochs, "passes over the rollout for the policy", Range{0, 1000});
    visit("value_epochs", value_epochs, "passes over the rollout for the value", Range{0, 1000});
    visit("minibatch", minibatch, "samples per gradient step", Range{1, 1e9});
    visit("update_interval", update_interval, "rollouts gathered per update", Range{1, 1e6});
  }
};

/// How many rows autograd gets at once: a shard's part of a minibatch is split into pieces whose
/// activations take about a quarter of a gigabyte. A function of the network, never of the machine.
std::int64_t rows_per_piece(const Network& network);

namespace detail {
class Gradients;
struct UpdateSums;
}  // namespace detail

/// Proximal policy optimisation on fixed shards: each shard computes the gradient of its part of a
/// minibatch on its own replica, the parts are summed up the tree, one Adam step follows. No sample
/// crosses a thread, and the result does not depend on how many there are.
class Ppo {
 public:
  Ppo(const PpoConfig& config, Policy& policy, const ActionHead& head, const Shards& shards,
      ThreadPool& pool, std::uint64_t seed);
  ~Ppo();

  /// One update from a whole rollout; `progress` in [0, 1] is the run's, for the schedules. Waits
  /// for the device once (once per epoch when target_kl is set). Throws Error when the loss is not
  /// finite.
  Metrics update(const RolloutBuffer& rollout, double progress);

  [[nodiscard]] Adam& optimiser() { return adam_; }

 private:
  struct Epoch;

  void run_epoch(Epoch& epoch);
  void shuffle(Epoch& epoch, std::size_t shard);
  void normalise_advantages(Epoch& epoch) const;
  void learn_minibatch(const Epoch& epoch, std::int64_t minibatch);
  [[nodiscard]] detail::UpdateSums total_sums() const;
  [[nodiscard]] Metrics report(const RolloutBuffer& rollout, std::int64_t policy_epochs) const;

  PpoConfig config_;
  Policy& policy_;
  Shards shards_;
  ThreadPool& pool_;
  std::uint64_t seed_;
  Adam adam_;
  std::unique_ptr<detail::Gradients> gradients_;
  PpoLossConfig loss_config_;
  double learning_rate_ = 0;
  std::vector<std::vector<std::int64_t>> order_;  // [S][T * n], its samples in the epoch's order
  std::int64_t num_epochs_run_ = 0;               // in this update
};

}  // namespace penstock
