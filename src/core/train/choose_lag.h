#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/peers/peers.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/note.h"

// What `async.max_lag = auto` stands for. The lag changes the bits of a run, so it is chosen once,
// before the run begins, and written to its config.toml.

namespace penstock::detail {

/// Seconds of an update, measured in turns: [0] where learner and envs take turns, [1] at lag 1.
struct LagTimes {
  std::vector<double> seconds[2];

  /// The middle one of a lag; the later of the two in the middle.
  [[nodiscard]] double median(std::int64_t lag) const;
};

/// 1 where that is clearly faster, else 0.
std::int64_t better_lag(const LagTimes& times);

/// For a run that begins: the plan itself where it says its lag, else one with the better lag, of
/// which `note` is told. Measures with engines that are gone when it returns, at most 105 updates
/// and about 3 seconds, but at least 5 updates, however long they are. Several processes learn in
/// step: 0, and nothing is measured.
std::shared_ptr<const RunPlan> with_measured_lag(std::shared_ptr<const RunPlan> plan,
                                                 const Peers& peers, const Note& note);

/// For a run that goes on: with the lag that its config.toml says, where the plan leaves it open.
std::shared_ptr<const RunPlan> with_recorded_lag(std::shared_ptr<const RunPlan> plan,
                                                 const RunDir& dir);

}  // namespace penstock::detail
