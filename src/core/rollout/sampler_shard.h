#pragma once
#include <memory>
#include <vector>

#include "penstock/core/rollout/sampler.h"

namespace penstock {

/// One shard's scratch, touched by one thread at a time. Aligned so that shards share no cache
/// line.
struct alignas(64) Sampler::Shard {
  std::size_t number = 0;  // in the run
  std::unique_ptr<Actor> actor;
  EnvRange range;
  std::size_t block_size = 0;      // b envs go through a segment together
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

/// Where a segment began, for envs of this process: a few bytes for each of them.
///
/// Why a copy before every segment, and not after a failure: an env that throws has already moved,
/// and so have those before it in the block. A segment is about 0.1 s of work, so that saving a few
/// bytes per env costs little; and a run that fails can save a checkpoint from right before it.
struct Sampler::Mark {
  bool begun = false;
  std::vector<std::byte> envs;
  std::vector<std::size_t> ends;  // [N], of each env's bytes
  struct ShardMark {
    std::size_t num_episodes = 0;
    std::int64_t discarded = 0;
    std::vector<Moments> obs_tally;
  };
  std::vector<ShardMark> shards;
  at::Tensor carry_obs;
  at::Tensor carry_legal;
};

}  // namespace penstock
