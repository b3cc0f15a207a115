#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/core/act/policy_model.h"
#include "penstock/core/base/metrics.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/rollout/fragment.h"

namespace penstock {

/// Seconds spent, summed over shards.
/// More than the wall clock where shards run side by side.
struct SampleTime {
  double env = 0;    // stepping, and waiting for envs in other processes
  double infer = 0;  // passes of the policy and drawing actions
  double copy = 0;   // checks, normalising, statistics
};

/// Whoever fills the fragments that a learner learns from: a Sampler with envs of its own, or an
/// intake of what samplers in other processes have filled.
///
///     source.advance(64);                               // a rollout, or a part of it
///     if (source.full()) { source.finish(); learn(buffer); source.restart(buffer); }
///
/// Not thread-safe: one caller.
class FragmentSource {
 public:
  virtual ~FragmentSource() = default;

  /// Acts with another version of the policy from the next step on. Not while advance() runs.
  virtual void adopt(const std::shared_ptr<const PolicyModel>& model) = 0;
  /// Up to `num_steps` more steps of every env, at most to the end of the fragment; fewer where it
  /// would have to wait for long.
  virtual void advance(std::int64_t num_steps) = 0;
  /// False once what makes up its state is lost.
  [[nodiscard]] virtual bool whole() const = 0;
  /// Steps in the fragment.
  [[nodiscard]] virtual std::int64_t position() const = 0;
  [[nodiscard]] virtual bool full() const = 0;
  /// Call it when the fragment is full, before the learner: it is then whole.
  virtual void finish() = 0;
  /// After finish(): the next fragment, of the same shape; the same one, or another while the last
  /// is learnt from.
  virtual void restart(Fragment& into) = 0;

  /// Steps each env has taken since the run began.
  [[nodiscard]] virtual std::int64_t steps_per_env() const = 0;
  /// Episodes that ended since the last call.
  virtual std::vector<EpisodeEnd> take_episodes() = 0;
  /// Episodes cut short by failures since the last call.
  virtual std::int64_t take_discarded() = 0;
  /// Failures of envs that were survived since the last call.
  virtual std::vector<Incident> take_incidents() = 0;
  virtual SampleTime take_time() = 0;
  /// What is to be logged of the last fragment beside that.
  [[nodiscard]] virtual Metrics metrics() const { return {}; }

  [[nodiscard]] virtual const ObsNormaliser& obs_normaliser() const = 0;

  /// All that a resumed source needs besides the envs and the policy. The tensors alias live
  /// memory where they can; `episodes` is [n, 9]: shard, total reward, length, success, env, and
  /// the env's own statistics.
  struct State {
    std::int64_t position = 0;
    std::int64_t steps_per_env = 0;
    at::Tensor carry_obs;    // [N, F] raw rows to act on next, when position is 0
    at::Tensor carry_legal;  // [N, A] or undefined
    at::Tensor obs_moments;  // [F, 3] or undefined
    at::Tensor obs_tally;    // [S, F, 3] or undefined, of the rollout in flight
    at::Tensor episodes;     // [n, 9]
    at::Tensor elsewhere;  // [n] bytes, of samplers in other processes; they alone are defined then
  };
  [[nodiscard]] virtual State save() = 0;
  /// The envs and the fragment's tensors are loaded by the caller. Rows are this process's; tallies
  /// and episodes are the run's, of which it takes its own. Throws DataError when the state is
  /// of another config.
  virtual void load(const State& state) = 0;
};

}  // namespace penstock
