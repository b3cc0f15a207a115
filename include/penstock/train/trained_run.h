#pragma once
#include <functional>
#include <memory>
#include <string>

#include "penstock/train/engine.h"

namespace penstock {

/// Which policy of which run.
struct RunChoice {
  std::string dir;
  std::string checkpoint = "latest";  // or best, or a step
  Settings changes;                   // of how it runs: threads, device
};

/// A run as its directory holds it, ready to act.
struct TrainedRun {
  Settings settings;  // of the run, with the changes
  std::unique_ptr<Plan> plan;
  std::unique_ptr<Engine> engine;  // of the plan, with the checkpoint's weights
};

/// Throws UsageError for a checkpoint that is none of the three, DataError when there is no such
/// one. `note` is told of checkpoints that were damaged and passed over.
TrainedRun open_run(const RunChoice& choice, const Catalog& catalog,
                    const std::function<void(const std::string&)>& note);

}  // namespace penstock
