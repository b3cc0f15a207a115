#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/env/spec.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/nn/network.h"

namespace penstock {

// Shapes: T steps, N envs, F features, A alternatives, D numbers per action.

/// The experience of some steps of some envs: [T + 1, N], time-major, allocated once, poisoned in
/// debug builds. What samplers fill and learners learn from; it knows no algorithm.
/// Envs and policy write in place; tensors are views of the same memory. A row of step t belongs to
/// the shard of its env: disjoint ranges may be written at the same time.
///
///     Fragment fragment(envs.spec(), 64, 256);                // T, N
///     const ObsRows rows = fragment.obs_rows(0, {0, 128});    // where envs 0 to 127 write
///
/// Everything lies on the CPU and is contiguous.
class Fragment {
 public:
  Fragment(const EnvSpec& spec, std::int64_t num_steps, std::int64_t num_envs);

  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  [[nodiscard]] std::int64_t num_envs() const { return num_envs_; }
  [[nodiscard]] std::int64_t num_samples() const { return num_steps_ * num_envs_; }
  /// Whether actions are points of a box.
  [[nodiscard]] bool continuous() const { return actions.is_floating_point(); }

  /// The part of step t that belongs to envs [range), lent for one call.
  [[nodiscard]] ObsRows obs_rows(std::int64_t t, EnvRange range) const;
  /// The same as tensors; views.
  [[nodiscard]] Observation obs_tensors(std::int64_t t, EnvRange range) const;
  /// The rows of any of the tensors below, as T: [size, width], for t up to its first dimension. T
  /// is the tensor's type; nothing checks it.
  template <class T>
  [[nodiscard]] std::span<T> rows(const at::Tensor& tensor, std::int64_t t, EnvRange range) const {
    const std::size_t width = tensor.stride(1);
    const std::size_t start = t * tensor.stride(0) + range.begin * width;
    return {static_cast<T*>(tensor.data_ptr()) + start, range.size() * width};
  }

  /// Everything by name, for checkpoints of a rollout in flight.
  [[nodiscard]] std::vector<std::pair<std::string, at::Tensor>> tensors() const;

  at::Tensor obs;          // [T+1, N, F], normalised if the run does so
  at::Tensor legal;        // [T+1, N, A] bool; undefined when not masked
  at::Tensor actions;      // [T, N, D] int64 or float
  at::Tensor log_prob;     // [T, N] of the policy that acted
  at::Tensor value;        // [T+1, N]
  at::Tensor reward;       // [T, N]
  at::Tensor terminated;   // [T, N] bool
  at::Tensor truncated;    // [T, N] bool
  at::Tensor final_value;  // [T, N] value of the row that truncation cut off, else 0
  at::Tensor version;      // [T, N] int64, the policy's

 private:
  std::int64_t num_steps_;
  std::int64_t num_envs_;
};

}  // namespace penstock
