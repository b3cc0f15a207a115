#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/metrics.h"
#include "penstock/core/env/vec_env.h"

namespace penstock {

class ThreadPool;

/// Who plays: a version of a policy, and what the envs that it was trained with have learnt
/// together.
struct Player {
  std::shared_ptr<const PolicyModel> model;
  std::vector<std::byte> shared;  // of save_shared(); empty: nothing
};

/// How many episodes, and which.
struct EvalOptions {
  std::int64_t episodes = 20;  // 1 or more
  std::uint64_t seed = 1;      // the same seed gives the same starts to every policy
  bool deterministic = true;   // the most likely action; else sampled
  std::int64_t max_steps = 0;  // after which an episode is cut off, as if truncated; 0: never
  const std::atomic<bool>* stop = nullptr;  // once set, playing ends and there is no result
  /// Episodes `first`, `first + stride`, ... only, of several processes that share them; the others
  /// stay as they are made.
  std::size_t first = 0;
  std::size_t stride = 1;
};

/// Rewards are undiscounted and as the env gives them, not normalised.
struct EvalResult {
  std::int64_t episodes = 0;
  double mean_reward = 0;
  double std_reward = 0;  // of the sample
  double ci95_low = 0;    // of the mean, by the normal approximation
  double ci95_high = 0;
  double mean_ep_length = 0;  // steps
  double success_rate = 0;    // NaN when the env has no notion of it
  std::int64_t cut_off = 0;   // episodes as long as max_steps
  Metrics stats;              // means of what the env itself tells of its episodes, by its names
};

/// Plays whole episodes, each in an env of its own with one row per policy pass, so that an episode
/// does not depend on the others. Episode i is a function of (seed, i); the normaliser is frozen.
/// By number; none where it was stopped. Episodes that failing envs cut short are played again.
/// Runs on the pool; results do not depend on its size. Throws what envs throw.
std::vector<EpisodeEnd> play_episodes(const Player& player, const EnvFactory& env, ThreadPool& pool,
                                      const EvalOptions& options);
/// What they come to; `spec` is the env's.
EvalResult summarise(const std::vector<EpisodeEnd>& ends, const EnvSpec& spec,
                     std::int64_t max_steps);
/// Both.
EvalResult evaluate(const Player& player, const EnvFactory& env, ThreadPool& pool,
                    const EvalOptions& options);

}  // namespace penstock
