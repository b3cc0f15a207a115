#pragma once
#include <functional>
#include <memory>
#include <string>

#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/note.h"
#include "penstock/core/train/trust.h"

namespace penstock {

/// Which policy of which run.
struct RunChoice {
  std::string dir;
  std::string checkpoint = "latest";  // or best, or a step
  Settings changes = {};              // of how it runs: threads, device
  Trust trust = {};
};

/// A run as its directory holds it, ready to act. Neither its optimiser nor its envs nor its
/// rollout are read, and the number of envs does not matter.
/// The player needs the plan: keep them together.
struct TrainedRun {
  Settings settings;  // of the run, with the changes
  std::unique_ptr<RunPlan> plan;
  Player player;
  std::int64_t timesteps = 0;  // that it was trained for
};

/// The checkpoint that a word names: latest, best or a step. Throws UsageError for another word,
/// DataError when there is no such one. `note` is told of damaged ones that were passed over.
Checkpoint chosen_checkpoint(RunDir& dir, const std::string& which, CheckpointPart part,
                             const Note& note);

/// Throws as chosen_checkpoint() and recorded_config() do.
TrainedRun open_run(const RunChoice& choice, const Catalog& catalog, const Note& note);

/// The policy of a checkpoint under a plan whose env and network are the run's; the plan must
/// outlive the policy and its actors. Throws DataError when they are not the run's.
Player player_of(const RunPlan& plan, const Checkpoint& checkpoint);

}  // namespace penstock
