#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "penstock/core/base/metrics.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/note.h"

namespace penstock {

/// Where a run stands, for whoever watches.
/// A copy; it does not change.
struct Progress {
  std::int64_t timesteps = 0;        // over all envs, since the run began
  std::int64_t total_timesteps = 0;  // the budget; 0: episodes or the clock may end the run before
  std::int64_t episodes = 0;         // finished, without those that failures cut short
  double fps = 0;                    // env steps per second, of this process
  double ep_rew_mean = 0;            // of the last 100 episodes; NaN before the first
  double ep_len_mean = 0;            // likewise, steps
  double elapsed_s = 0;              // of this process
  double done = 0;                   // share of the budget that is spent, the nearest of its ends
  double left_s = std::nan("");      // seconds to the end at this pace; NaN: not known yet
};

/// What a run tells its surroundings; all calls come from the thread in run(). An exception ends
/// the run, which is saved first.
/// The defaults ignore everything; name what is of interest.
struct RunListener {
  std::function<void(const Progress&)> progress = [](const Progress&) {};  // several times a second
  /// With every line that goes to the run's log, evaluations too.
  std::function<void(const Progress&, const Metrics&)> logged = [](const Progress&,
                                                                   const Metrics&) {};
  /// A rollout is full; with the episodes that ended in it. True ends the run as it is, before the
  /// rollout is learnt from.
  std::function<bool(const Progress&, std::span<const EpisodeEnd>)> enough =
      [](const Progress&, std::span<const EpisodeEnd>) { return false; };
  Note note = [](const std::string&) {};
  std::function<void(const std::string&)> line = [](const std::string&) {
  };  // with run.print_updates: what runs, and each update
};

/// How a run ended.
/// What the command line prints at the end.
struct Summary {
  std::string digest;  // of the weights; equal digests mean equal runs
  std::int64_t total_timesteps = 0;
  std::int64_t updates = 0;
  std::int64_t episodes = 0;
  std::int64_t discarded = 0;  // episodes cut short by failing envs
  std::int64_t incidents = 0;  // failures of envs that this process survived
  bool preempted = false;      // a stop was asked for; the run is saved and can be resumed
  EvalResult eval;             // episodes == 0: none
  double fps = 0;
  std::size_t ranks = 1;    // processes that trained it in this sitting
  double time_elapsed = 0;  // seconds, of this process
  Metrics perf;             // shares of the wall clock: "perf/env_frac"

  /// One line of JSON.
  [[nodiscard]] std::string line() const;
};

}  // namespace penstock
