#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/algo/ppo_loss.h"
#include "penstock/nn/action_head.h"
#include "penstock/nn/policy.h"
#include "penstock/rollout/buffer.h"

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

/// At least one of the two is learnt.
inline Want learnt(bool policy, bool value) {
  return !value ? Want::policy : !policy ? Want::value : Want::both;
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
};

/// How a shard's gradient is computed: by autograd, or without a graph. Calls for different shards
/// may run at the same time.
class Gradients {
 public:
  virtual ~Gradients() = default;
  /// An update from this rollout starts; it stays as it is until the next begin().
  virtual void begin(const RolloutBuffer& rollout, const PpoLossConfig& loss) = 0;
  /// Replaces policy.gradient(part.shard), at least of parameters that have a part in what is
  /// learnt.
  virtual void compute(const MinibatchPart& part) = 0;
  /// Of the update so far. Waits for the device.
  [[nodiscard]] virtual UpdateSums sums(std::size_t shard) const = 0;
};

/// Autograd, on any device and network.
std::unique_ptr<Gradients> make_eager_gradients(Policy& policy, const ActionHead& head);
/// Kernels over chunks of rows; policy.is_fused().
std::unique_ptr<Gradients> make_fused_gradients(Policy& policy, const ActionHead& head);

}  // namespace penstock::detail
