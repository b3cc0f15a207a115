#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/act/action_head.h"
#include "penstock/core/algo/gae_targets.h"
#include "penstock/core/algo/ppo_loss.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/rollout/fragment.h"

namespace penstock::detail {

/// A shard's part of a minibatch.
struct MinibatchPart {
  std::size_t shard = 0;
  std::span<const std::int64_t> samples;  // t * N + n each, of the shard's own envs
  double count = 1;                       // samples of the whole minibatch, over all shards
  double advantage_mean = 0;
  double advantage_scale = 1;
  bool policy = true;
  bool value = true;
};

/// A shard's rows of an older policy, all of which are one minibatch with those of other shards.
struct OldRows {
  std::size_t shard = 0;
  EnvRange range;
  double count = 1;  // samples over all shards
  const GaeConfig& config;
  Fragment& rollout;  // gets the learning policy's log-probabilities and values
  const Targets& into;
};

/// At least one of the two is learnt.
inline Outputs learnt(bool policy, bool value) {
  return !value ? Outputs::policy : !policy ? Outputs::value : Outputs::both;
}

/// Sums over the minibatches of an update of the parts' losses, each weighted by its share.
struct UpdateSums {
  double policy = 0;
  double value = 0;
  double entropy = 0;
  double kl = 0;
  double clipped = 0;
  double total = 0;

  void add(const UpdateSums& other);
  [[nodiscard]] UpdateSums minus(const UpdateSums& other) const;
};

/// How a shard's gradient is computed: by autograd, or without a graph. Calls for different shards
/// may run at the same time.
class Gradients {
 public:
  virtual ~Gradients() = default;
  /// Of the rows of a shard, whose envs are `range`: the log-probabilities of their actions and
  /// their values, by the weights as they are.
  virtual void judge(const Fragment& rollout, std::size_t shard, EnvRange range,
                     const Judgement& into) = 0;
  /// An update from this rollout starts; it stays as it is until the next begin().
  virtual void begin(const Fragment& rollout, const Targets& targets,
                     const PpoLossConfig& loss) = 0;
  /// Replaces policy.gradient(part.shard), at least of parameters that have a part in what is
  /// learnt.
  virtual void compute(const MinibatchPart& part) = 0;
  /// Whether compute_old() can be called.
  [[nodiscard]] virtual bool in_one_pass() const { return false; }
  /// judge(), compute_vtrace() and compute() of all rows with their advantages as they are, in one
  /// pass of the network. After begin().
  virtual void compute_old(const OldRows& /*rows*/) {}
  /// Of the update so far. Waits for the device.
  [[nodiscard]] virtual UpdateSums sums(std::size_t shard) const = 0;
  /// Whether the loss of the last compute() is; true where a device would have to be waited for.
  [[nodiscard]] virtual bool loss_is_finite(std::size_t shard) const = 0;
  /// Takes the last compute() out of the sums again; what it had added.
  virtual UpdateSums take_back(std::size_t shard) = 0;
};

/// Autograd, on any device and network.
std::unique_ptr<Gradients> make_eager_gradients(Policy& policy, const ActionHead& head);
/// Kernels over chunks of rows; policy.is_fused().
std::unique_ptr<Gradients> make_fused_gradients(Policy& policy, const ActionHead& head);
/// The one that fits the policy.
std::unique_ptr<Gradients> make_gradients(Policy& policy, const ActionHead& head);

/// By the weights as they are when it is called. What is given must outlive it.
Judge judge_by(Gradients& gradients, const Shards& shards);

/// A shard's samples t * N + n in the order of steps, into `out`.
void list_samples(EnvRange range, std::int64_t num_steps, std::int64_t num_envs,
                  std::vector<std::int64_t>& out);
/// The moments of chosen values. In two passes: no division per number, and no cancellation.
Moments moments_of(std::span<const float> values, std::span<const std::int64_t> chosen);
/// The first `count` numbers of a tensor of floats.
std::span<const float> floats(const at::Tensor& tensor, std::int64_t count);

/// The update's sums over all shards and processes.
UpdateSums total_sums(const Gradients& gradients, const Shards& shards, Peers& peers);

/// How well values fit their targets.
struct Fit {
  Moments spread;  // of the targets
  Moments error;

  void add(std::span<const float> values, std::span<const float> targets);
  /// The share of the targets' variance that the values explain; NaN when there is none.
  [[nodiscard]] double explained() const;
};
/// Of all processes.
double explained_variance(const Fragment& rollout, const Targets& targets,
                          const LearnerParts& parts);

/// A shard's gradient of a loss that is not finite is made so too: then the norm of the sum tells
/// every process, as it must, or they would part.
void spoil_unless_finite(const Gradients& gradients, Policy& policy, std::size_t shard);
/// After a gradient that was not finite: the sums without it, and gradients as at the beginning.
/// Its own sums, of this process.
UpdateSums forget_minibatch(Gradients& gradients, Policy& policy);

/// Throws the Error of a loss that is not finite; `algorithm` is the section of its keys. For
/// devices, where no minibatch is waited for.
void require_finite(double loss, std::int64_t update, const std::string& algorithm);

}  // namespace penstock::detail
