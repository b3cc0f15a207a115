#include "penstock/train/trained_run.h"

#include <charconv>

#include "penstock/base/errors.h"
#include "penstock/store/run_dir.h"

namespace penstock {
namespace {

Checkpoint chosen_checkpoint(RunDir& dir, const std::string& which,
                             const std::function<void(const std::string&)>& note) {
  CheckpointStore& store = dir.checkpoints();
  if (which == "latest") { return store.load_latest(note); }
  if (which == "best") {
    if (const auto best = store.best()) { return store.load(*best); }
    throw DataError(dir.path() + ": no checkpoint is marked best yet; use --checkpoint latest");
  }
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), step);
  if (error != std::errc{} || end != which.data() + which.size()) {
    throw UsageError("--checkpoint " + which + ": expected latest, best or a step");
  }
  return store.load(step);
}

}  // namespace

TrainedRun open_run(const RunChoice& choice, const Catalog& catalog,
                    const std::function<void(const std::string&)>& note) {
  RunDir dir(choice.dir, RunDir::Open::read);
  TrainedRun run;
  run.settings.add_toml(dir.read("config.toml"), "config.toml");
  for (const Setting& change : choice.changes.all()) { run.settings.append(change); }
  run.plan = std::make_unique<Plan>(run.settings, catalog);
  run.engine = std::make_unique<Engine>(*run.plan);
  run.engine->restore(chosen_checkpoint(dir, choice.checkpoint, note));
  return run;
}

}  // namespace penstock
