#pragma once
#include <cstdint>
#include <vector>

#include "penstock/base/thread_pool.h"
#include "penstock/train/engine.h"

namespace penstock {

struct EvalOptions {
  std::int64_t episodes = 20;
  std::uint64_t seed = 1;
  bool deterministic = true;  // the most likely action; else sampled
};

struct EvalResult {
  std::int64_t episodes = 0;
  double mean_reward = 0;
  double std_reward = 0;  // of the sample
  double ci95_low = 0;    // of the mean, by the normal approximation
  double ci95_high = 0;
  double mean_ep_length = 0;
  double success_rate = 0;  // NaN when the env has no notion of it
};

/// Plays whole episodes, each in an env of its own with one row per policy pass, so that an episode
/// does not depend on the others. Episode i is a function of (seed, i); the normaliser is frozen.
std::vector<EpisodeEnd> play_episodes(const Actor& actor, const EnvFactory& env, ThreadPool& pool,
                                      const EvalOptions& options);
/// The same, summed up.
EvalResult evaluate(const Actor& actor, const EnvFactory& env, ThreadPool& pool,
                    const EvalOptions& options);

}  // namespace penstock
