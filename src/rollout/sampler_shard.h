#pragma once
#include <vector>

#include "penstock/rollout/sampler.h"

namespace penstock {

/// One shard's scratch, touched by one thread at a time. Aligned so that shards share no cache
/// line.
struct alignas(64) Sampler::Shard {
  std::size_t index = 0;
  EnvRange range;
  std::vector<float> env_actions;    // [n, D], box only: what the env receives
  std::vector<float> final_obs;      // [n, F]
  std::vector<EpisodeEnd> ended;     // [n]
  std::vector<Moments> obs_tally;    // [F]
  std::vector<EpisodeEnd> episodes;  // since take_episodes()
  SampleTime time;
};

}  // namespace penstock
