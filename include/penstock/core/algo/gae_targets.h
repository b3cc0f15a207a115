#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>

#include "penstock/core/algo/learner.h"
#include "penstock/core/algo/reward_normaliser.h"

namespace penstock {

/// What the samples of a fragment are learnt for.
/// Float tensors on the CPU.
struct Targets {
  at::Tensor advantage;  // [T, N], of the action taken
  at::Tensor value;      // [T, N], the value's aim
};

/// What the estimate weighs; both in [0, 1].
struct GaeConfig {
  double gamma = 0.99;   // discount per step
  double lambda = 0.95;  // 0: errors of one step; 1: whole returns
};

/// Generalised advantage estimation (Schulman et al., 2016) for the envs of a range. A termination
/// ends the future; a truncation replaces it by final_value; both cut the trace.
/// Reads the fragment's row T of values, so the fragment must be full. Writes `into`, both [T, N],
/// for these envs only: disjoint ranges may run at the same time.
void compute_gae(const Fragment& fragment, EnvRange range, const GaeConfig& config,
                 const Targets& into);

/// What the policy that learns says of a fragment: log-probabilities [T, N] of its actions and
/// values [T + 1, N]. Float tensors on the CPU.
struct Judgement {
  at::Tensor log_prob;
  at::Tensor value;
};
/// Judges the rows of a shard; for different shards at the same time.
using Judge = std::function<void(const Fragment&, std::size_t shard, const Judgement& into)>;

/// The same for a fragment that an older policy has sampled: V-trace (Espeholt et al., 2018) with
/// lambda, A = rho (r + gamma V' - V) + gamma lambda c A', rho and c being `ratio` up to 1. The
/// fragment's values are the learning policy's; `ratio` [T, N] is its probability of each action
/// over the older one's. Where all ratios are 1 it has the bits of compute_gae().
void compute_vtrace(const Fragment& fragment, const at::Tensor& ratio, EnvRange range,
                    const GaeConfig& config, const Targets& into);
/// One step of it, for whoever goes from the last step to the first himself: row t + 1 of the
/// values and, of these envs, `ratio` of step t are there. `running` is what the step after it
/// left, zeros after the last one.
void vtrace_step(const Fragment& fragment, std::span<const float> ratio, std::int64_t t,
                 EnvRange range, const GaeConfig& config, std::span<float> running,
                 const Targets& into);

/// What a learner aims at: advantages and the value's targets of a fragment, after its rewards were
/// scaled where the run does so.
class GaeTargets {
 public:
  /// gamma also discounts the running return that rewards are scaled by.
  GaeTargets(const LearnerParts& parts, const GaeConfig& config);

  /// Scales the fragment's rewards. The targets stay as they are until the next call.
  /// Runs a task per shard on the pool; the bits do not depend on the number of threads.
  /// Rows of an older version than the policy's are judged anew: the fragment then has the policy's
  /// own log-probabilities and values, as if it had acted, and what it would have done otherwise is
  /// in the targets.
  const Targets& compute(Fragment& fragment, const Judge& judge);
  /// Room for the targets, which the caller computes; scales the rewards.
  const Targets& prepare(Fragment& fragment);
  /// Whether a row is of another version than the policy that learns.
  [[nodiscard]] bool is_old(const Fragment& fragment) const;

  /// The running returns and their moments.
  /// Copies, in the checkpoint's file "envs".
  void save(LearnerState& state) const;
  /// Throws DataError when either is missing. The number of envs must be the one that was saved.
  void load(const LearnerState& state);

 private:
  void scale_rewards(Fragment& fragment);
  void correct(Fragment& fragment, const Judge& judge);

  LearnerParts parts_;
  GaeConfig config_;
  RewardNormaliser rewards_;
  Targets targets_;
  Judgement judgement_;  // of the last fragment that was old
};

}  // namespace penstock
