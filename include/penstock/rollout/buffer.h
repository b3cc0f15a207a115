#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/env/spec.h"
#include "penstock/env/vec_env.h"
#include "penstock/nn/network.h"

namespace penstock {

// Shapes: T steps, N envs, F features, A alternatives, D numbers per action.

/// The experience of one rollout: [T + 1, N], time-major, allocated once, poisoned in debug builds.
/// Envs and policy write in place; tensors are views of the same memory. A row of step t belongs to
/// the shard of its env: disjoint ranges may be written at the same time.
class RolloutBuffer {
 public:
  RolloutBuffer(const EnvSpec& spec, std::int64_t num_steps, std::int64_t num_envs);

  [[nodiscard]] std::int64_t num_steps() const { return num_steps_; }
  [[nodiscard]] std::int64_t num_envs() const { return num_envs_; }
  [[nodiscard]] bool continuous() const { return actions.is_floating_point(); }

  /// The part of step t that belongs to envs [range), lent for one call.
  [[nodiscard]] ObsRows obs_rows(std::int64_t t, EnvRange range) const;
  [[nodiscard]] Observation obs_tensors(std::int64_t t, EnvRange range) const;
  template <class T>
  [[nodiscard]] std::span<T> rows(const at::Tensor& tensor, std::int64_t t, EnvRange range) const {
    const auto width = static_cast<std::size_t>(tensor.stride(1));
    const auto start = static_cast<std::size_t>(t * tensor.stride(0)) + range.begin * width;
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
  at::Tensor advantage;    // [T, N], written by compute_gae
  at::Tensor target;       // [T, N], the value's aim, likewise

 private:
  std::int64_t num_steps_;
  std::int64_t num_envs_;
};

/// Generalised advantage estimation for the envs of a range. A termination ends the future; a
/// truncation replaces it by final_value; both cut the trace.
void compute_gae(RolloutBuffer& buffer, EnvRange range, double gamma, double lambda);

}  // namespace penstock
