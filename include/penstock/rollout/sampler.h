#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/base/config.h"
#include "penstock/base/thread_pool.h"
#include "penstock/env/vec_env.h"
#include "penstock/nn/action_head.h"
#include "penstock/nn/policy.h"
#include "penstock/rollout/buffer.h"
#include "penstock/rollout/normaliser.h"
#include "penstock/rollout/shards.h"

namespace penstock {

/// Seconds spent, summed over shards.
struct SampleTime {
  double env = 0;
  double infer = 0;
  double copy = 0;
};

/// Fills rollout buffers: a block of envs steps and its next actions are chosen on the same thread,
/// with no barrier between threads until the segment's end. A block is a shard, or, where the
/// policy computes each row alone, a part of one whose envs stay in the core's cache. Actions are a
/// function of (seed, env, step), so threads and segment lengths cannot matter.
class Sampler {
 public:
  struct Options {
    std::uint64_t seed = 0;
    double gamma = 0.99;
    double lambda = 0.95;
    NormaliseConfig normalise;
  };

  Sampler(VecEnv& envs, Policy& policy, const ActionHead& head, const Shards& shards,
          RolloutBuffer& buffer, ThreadPool& pool, const Options& options);
  ~Sampler();

  /// Up to `num_steps` more steps of every env, at most to the end of the buffer. Throws DataError
  /// naming env and step when an env hands over something not finite.
  void advance(std::int64_t num_steps);
  [[nodiscard]] bool full() const { return position_ == buffer_.num_steps(); }
  [[nodiscard]] std::int64_t position() const { return position_; }

  /// Last values, reward scaling, advantages, and the normalisers' merge; the buffer is then whole.
  void finish();
  /// Starts the next rollout where the last one ended.
  void restart();

  /// How many envs go through a segment together; 0 or too many: the whole shard. Without effect
  /// where blocks would change results.
  void set_block(std::size_t size);
  [[nodiscard]] bool can_split() const {
    return policy_.is_fused() && !options_.normalise.obs && !envs_.asynchronous();
  }

  /// Steps each env has taken since the run began.
  [[nodiscard]] std::int64_t steps_per_env() const { return steps_per_env_; }
  /// Episodes that ended since the last call, in the order of (shard, step, env).
  std::vector<EpisodeEnd> take_episodes();
  /// Episodes cut short by failures since the last call.
  std::int64_t take_discarded();
  SampleTime take_time();

  [[nodiscard]] const ObsNormaliser& obs_normaliser() const { return obs_normaliser_; }

  /// All that a resumed sampler needs besides the envs and the policy. The tensors alias live
  /// memory where they can; `episodes` is [n, 9]: shard, total reward, length, success, env, and
  /// the env's own statistics.
  struct State {
    std::int64_t position = 0;
    std::int64_t steps_per_env = 0;
    at::Tensor carry_obs;       // [N, F] raw rows to act on next, when position is 0
    at::Tensor carry_legal;     // [N, A] or undefined
    at::Tensor obs_moments;     // [F, 3] or undefined
    at::Tensor obs_tally;       // [S, F, 3] or undefined, of the rollout in flight
    at::Tensor reward_moments;  // [3]
    at::Tensor reward_returns;  // [N]
    at::Tensor episodes;        // [n, 9]
  };
  [[nodiscard]] State save() const;
  void load(const State& state);

 private:
  struct Shard;

  void begin();
  void fill_first_row();
  void run_blocks(Shard& shard, std::int64_t end);
  void interleave(std::size_t lane, std::size_t lanes, std::int64_t end);
  void act(Shard& shard, EnvRange block, std::int64_t t);
  ActionRows env_actions(const Shard& shard, EnvRange block, std::int64_t t) const;
  OutcomeRows outcome_rows(Shard& shard, EnvRange block, std::int64_t t);
  void take_in(Shard& shard, EnvRange block, std::int64_t t);
  void note_episodes(Shard& shard, EnvRange block, std::int64_t t);
  void absorb(Shard& shard, EnvRange block, std::int64_t t);
  void value_truncated(Shard& shard, EnvRange block, std::int64_t t);

  VecEnv& envs_;
  Policy& policy_;
  const ActionHead& head_;
  RolloutBuffer& buffer_;
  ThreadPool& pool_;
  Options options_;
  std::vector<Shard> shards_;
  ObsNormaliser obs_normaliser_;
  RewardNormaliser reward_normaliser_;
  at::Tensor carry_obs_;    // [N, F] raw
  at::Tensor carry_legal_;  // [N, A]
  std::int64_t position_ = 0;
  std::int64_t steps_per_env_ = 0;
  bool begun_ = false;
};

}  // namespace penstock
