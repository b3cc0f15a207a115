#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/nn/network.h"

namespace penstock {

/// Where a parameter lies in the flat buffers.
struct ParameterSlot {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // in floats, a multiple of 16
  std::int64_t size = 0;
  bool by_input = false;     // a matrix that lies as its transpose
  Want serves = Want::both;  // the outputs that it has a part in
};

/// Whether a policy runs without a graph where it can.
enum class Fusion {
  never,
  when_fit,  // a stack of linear layers on the CPU, small enough to stay in a core's cache
  always,    // ConfigError when it cannot
};

/// Rows to act on, and where to put what the network makes of them. All on the CPU.
struct Inference {
  std::size_t num_rows = 0;
  std::span<const float> obs;   // [n, F]
  std::span<const bool> legal;  // [n, A]; may be empty
  std::span<float> params;      // [n, P]; empty: not wanted
  std::span<float> value;       // [n]; empty: not wanted
};

/// The learner's policy: one flat buffer of weights, and per shard a replica of the network that
/// reads those weights and owns a flat gradient buffer. Replicas of different shards may run
/// forward and backward at the same time; the weights may change only while none does.
class Policy {
 public:
  using MakeNetwork = std::function<std::unique_ptr<Network>()>;

  /// `make` must give the same initial weights each time.
  Policy(const MakeNetwork& make, std::size_t num_shards, at::Device device,
         Fusion fusion = Fusion::never);

  [[nodiscard]] Network& replica(std::size_t shard) { return *replicas_[shard]; }
  [[nodiscard]] const at::Tensor& weights() const { return weights_; }  // [num_floats]
  [[nodiscard]] const at::Tensor& gradient(std::size_t shard) const { return gradients_[shard]; }

  /// The shard's network without a graph, what is wanted of it in step with the weights; only when
  /// is_fused().
  [[nodiscard]] fused::Mlp& fused(std::size_t shard, Want want = Want::both);
  [[nodiscard]] bool is_fused() const { return !fused_.empty(); }
  /// The forward pass alone, on the shard's network. A fused one computes each row as if it were
  /// alone; another's last bits may depend on how many rows there are.
  void infer(std::size_t shard, const Inference& rows);
  /// To be called by whoever wrote to weights().
  void weights_changed() { ++weights_stamp_; }

  [[nodiscard]] const std::vector<ParameterSlot>& slots() const { return slots_; }
  [[nodiscard]] std::size_t num_shards() const { return replicas_.size(); }
  [[nodiscard]] at::Device device() const { return weights_.device(); }

  /// A parameter's part of a flat buffer (weights, a gradient, an optimiser's moment), in its
  /// shape.
  [[nodiscard]] static at::Tensor view(const at::Tensor& flat, const ParameterSlot& slot);

  /// Counts updates; stamped on every row sampled.
  [[nodiscard]] std::int64_t version() const { return version_; }
  void set_version(std::int64_t version) { version_ = version; }

 private:
  void bind(Network& network, const at::Tensor& gradient) const;
  void fuse(Fusion fusion);

  struct FusedReplica {
    fused::Mlp mlp;
    std::uint64_t actor_packed_at = 0;  // the weights' stamp
    std::uint64_t critic_packed_at = 0;
  };

  std::vector<std::unique_ptr<Network>> replicas_;
  std::vector<ParameterSlot> slots_;
  at::Tensor weights_;
  std::vector<at::Tensor> gradients_;
  std::vector<FusedReplica> fused_;  // [S] or empty
  std::uint64_t weights_stamp_ = 0;
  std::int64_t version_ = 0;
};

}  // namespace penstock
