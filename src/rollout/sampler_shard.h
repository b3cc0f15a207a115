#pragma once
#include <vector>

#include "penstock/rollout/sampler.h"

namespace penstock {

/// One shard's scratch, touched by one thread at a time. Aligned so that shards share no cache
/// line.
struct alignas(64) Sampler::Shard {
  std::size_t index = 0;
  EnvRange range;
  std::size_t block_size = 0;      // b envs go through a segment together
  std::vector<float> params;       // [b, P]
  std::vector<float> env_actions;  // [b, D], box only: what the env receives
  std::vector<float> final_obs;    // [b, F]
  std::vector<EpisodeEnd> ended;   // [b]
  std::vector<Moments> obs_tally;  // [F]
  struct Episode {
    std::int64_t step;  // of the run
    EpisodeEnd end;
  };
  std::vector<Episode> episodes;  // since take_episodes()
  std::int64_t discarded = 0;     // since take_discarded()
  SampleTime time;
};

}  // namespace penstock
