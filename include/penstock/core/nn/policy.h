#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/act/policy_model.h"
#include "penstock/core/nn/network.h"

namespace penstock {

/// Whether a policy runs without a graph where it can.
enum class Fusion {
  never,
  when_fit,  // a stack of linear layers on the CPU, small enough to stay in a core's cache
  always,    // ConfigError when it cannot
};

/// The learner's policy: one flat buffer of weights, and per shard a replica of the network that
/// reads those weights and owns a flat gradient buffer. Replicas of different shards may run
/// forward and backward at the same time; the weights may change only while none does. Nobody acts
/// with it: what acts is a version that it has published.
class Policy {
 public:
  using MakeNetwork = std::function<std::unique_ptr<Network>()>;

  /// `make` must give the same initial weights each time, and is kept for the actors of a policy
  /// that is not fused.
  /// Throws ConfigError for Fusion::always where the network or the device does not allow it.
  Policy(const MakeNetwork& make, std::size_t num_shards, at::Device device,
         Fusion fusion = Fusion::never);

  /// It belongs to the policy, as the buffers do.
  [[nodiscard]] Network& replica(std::size_t shard) { return *replicas_[shard]; }
  [[nodiscard]] const at::Tensor& weights() const { return weights_; }  // [num_floats]
  [[nodiscard]] const at::Tensor& gradient(std::size_t shard) const { return gradients_[shard]; }

  /// The shard's network without a graph, what is wanted of it in step with the weights; only when
  /// is_fused().
  [[nodiscard]] fused::Mlp& fused(std::size_t shard, Outputs want = Outputs::both);
  [[nodiscard]] bool is_fused() const { return !fused_.empty(); }
  /// To be called by whoever wrote to weights().
  void weights_changed() { ++weights_stamp_; }

  [[nodiscard]] const std::vector<ParameterSlot>& slots() const { return slots_; }
  [[nodiscard]] std::size_t num_shards() const { return replicas_.size(); }
  [[nodiscard]] at::Device device() const { return weights_.device(); }

  /// A parameter's part of a flat buffer (weights, a gradient, an optimiser's moment), in its
  /// shape.
  [[nodiscard]] static at::Tensor view(const at::Tensor& flat, const ParameterSlot& slot);

  /// What all versions of it have in common. `clip_obs` 0: rows are not normalised.
  [[nodiscard]] std::shared_ptr<const PolicyShape> shape(const EnvSpec& spec,
                                                         std::shared_ptr<const ActionHead> head,
                                                         double clip_obs) const;
  /// A copy of the weights as they are, of version(). Waits for the device.
  [[nodiscard]] std::shared_ptr<const PolicyModel> publish(
      const std::shared_ptr<const PolicyShape>& shape, const ObsNormaliser& normaliser) const;

  /// Counts updates; stamped on every row sampled.
  [[nodiscard]] std::int64_t version() const { return version_; }
  /// For learners, after an update, and for loading.
  void set_version(std::int64_t version) { version_ = version; }

 private:
  void bind(Network& network, const at::Tensor& gradient) const;
  void fuse(Fusion fusion);

  struct FusedReplica {
    fused::Mlp mlp;
    std::uint64_t actor_packed_at = 0;  // the weights' stamp
    std::uint64_t critic_packed_at = 0;
  };

  MakeNetwork make_;
  std::vector<std::unique_ptr<Network>> replicas_;
  std::vector<ParameterSlot> slots_;
  at::Tensor weights_;
  std::vector<at::Tensor> gradients_;
  std::vector<FusedReplica> fused_;        // [S] or empty
  std::optional<fused::MlpShape> acting_;  // what actors run where the learner is not fused
  std::uint64_t weights_stamp_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace penstock
