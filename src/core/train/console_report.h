#pragma once
#include <span>
#include <string>
#include <vector>

#include "penstock/core/base/metrics.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/train/config.h"

namespace penstock::detail {

/// What an update's lines tell of.
struct UpdateLines {
  std::int64_t number = 0;
  std::int64_t last = 0;  // 0: not known
  std::int64_t timesteps = 0;
  std::int64_t total_episodes = 0;       // since the run began
  std::span<const EpisodeEnd> episodes;  // that ended since the last line
  std::span<const std::string> stats;    // the env's own names for EpisodeEnd::stats
  const Metrics& metrics;
};

/// What runs: the env with the keys that were given, the sizes, and how the episodes fall into
/// epochs.
std::vector<std::string> header_lines(const RunPlan& plan, const std::string& run_dir);

/// One line for the update, then one for each group of metrics that neither sampling nor learning
/// knows: what the env itself learns.
std::vector<std::string> update_lines(const UpdateLines& update);

}  // namespace penstock::detail
