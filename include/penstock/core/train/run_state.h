#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>

#include "penstock/core/env/vec_env.h"
#include "penstock/core/store/checkpoint.h"
#include "penstock/core/train/evaluate.h"

/// What state.json of a checkpoint holds.
namespace penstock::detail {

constexpr std::size_t kWindow = 100;  // episodes in the running means

/// What a checkpoint keeps of a run beside its engine.
struct RunState {
  std::int64_t episodes = 0;
  std::int64_t discarded = 0;
  std::deque<EpisodeEnd> window;                                 // the last 100 episodes
  double best_score = -std::numeric_limits<double>::infinity();  // of the checkpoints so far
  std::int64_t next_eval = 0;                                    // timesteps
  double seconds = 0;                                            // of the sittings before this one
  EvalResult last_eval;
  double score = 0;  // what makes a checkpoint the best; not in the file

  [[nodiscard]] double mean_reward() const;  // of the window; NaN before the first episode
  [[nodiscard]] double mean_length() const;  // likewise
};

using Counters = std::map<std::string, std::int64_t>;

/// The text of state.json; `counters` are the engine's, a JSON object.
std::string state_text(const std::string& counters, const RunState& run);
/// Of a checkpoint. Throws DataError.
RunState read_run_state(const Checkpoint& checkpoint);
/// The engine's counters of a checkpoint. Throws DataError.
Counters counters_of(const Checkpoint& checkpoint);
/// One of them, which is a count of something that a run has done. Throws DataError.
std::int64_t counter(const Counters& counters, const std::string& name);

}  // namespace penstock::detail
