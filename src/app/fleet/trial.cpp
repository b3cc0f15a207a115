#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "penstock/app/fleet/fleet.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/train/run.h"

namespace penstock::fleet {
namespace {

/// The mean of the last 100 episodes in the first line of the run's log from `steps` on; nothing
/// before the run has come there. The line is the same however often the run was resumed.
std::optional<Entry> reached(const std::string& dir, std::size_t trial, Stage stage,
                             std::int64_t steps) {
  std::ifstream file(dir + "/metrics.jsonl");
  LineReader lines(file);
  for (std::string line; lines.next(line);) {
    const Json json = try_parse_json(line);
    if (!json.is_object() || !json.contains("rollout/ep_rew_mean")) { continue; }
    const auto at = json.value("step", std::int64_t{0});
    if (at < steps) { continue; }
    const Json& mean = json["rollout/ep_rew_mean"];
    return Entry{.trial = trial,
                 .stage = stage,
                 .steps = at,
                 .score = mean.is_number() ? mean.get<double>() : std::nan("")};
  }
  return std::nullopt;
}

/// The plan that the fleet's file says; of the run directory only the instruction set counts, which
/// a run keeps.
std::shared_ptr<const RunPlan> plan_of(const Fleet& fleet, std::size_t trial,
                                       const std::string& dir, bool begun, const Catalog& catalog,
                                       const Note& note) {
  Settings settings = fleet.settings_of(trial);
  if (begun) {
    const Settings recorded = recorded_settings(dir, {.anyway = true}, note);
    if (const Setting* isa = recorded.find("isa")) { settings.add("isa", isa->text, dir); }
  }
  return std::make_shared<RunPlan>(settings, catalog);
}

bool is_entered(const std::vector<Entry>& entries, std::size_t trial, Stage stage, Stage last) {
  for (const Entry& entry : entries) {
    const bool final = entry.exit != 0 || entry.stage == last;
    if (entry.trial == trial && (entry.stage == stage || final)) { return true; }
  }
  return false;
}

/// One sitting: until the stage is reached (an entry), the run is stopped (none) or fails.
std::optional<Entry> train(const Fleet& fleet, const Folder& folder, std::size_t trial, Stage stage,
                           const Catalog& catalog, const std::atomic<bool>& stop,
                           const Note& note) {
  const std::string dir = folder.trial_dir(trial);
  const Config& config = fleet.config();
  const bool last = stage == config.rungs.size();
  const std::int64_t until = last ? 0 : config.rungs[stage];
  std::atomic<bool> enough{false};  // at a rung, or stopped: to be resumed either way
  RunListener listener;
  listener.note = note;
  listener.progress = [&](const Progress&) {
    if (stop) { enough = true; }
  };
  listener.logged = [&](const Progress& progress, const Metrics&) {
    if (!last && progress.timesteps >= until) { enough = true; }
  };
  const bool begun = std::filesystem::exists(dir + "/ckpt/LATEST");
  const auto plan = plan_of(fleet, trial, dir, begun, catalog, note);
  const auto run = begun ? Run::resume(dir, plan, {.listener = listener})
                         : Run::fresh(plan, {.listener = listener, .dir = dir});
  const Summary summary = run->run(enough);
  if (summary.preempted) { return last ? std::nullopt : reached(dir, trial, stage, until); }
  const bool evaluated = summary.eval.episodes > 0;
  const auto mean = reached(dir, trial, stage, summary.total_timesteps);
  return Entry{.trial = trial,
               .stage = config.rungs.size(),
               .digest = summary.digest,
               .steps = summary.total_timesteps,
               .score = evaluated ? summary.eval.mean_reward
                        : mean    ? mean->score
                                  : std::nan("")};
}

/// Whether another try may end otherwise: the lock is another process's, the run was stopped.
bool may_pass(Exit exit) {
  return exit == Exit::cannot_create || exit == Exit::preempted || exit == Exit::peer_unavailable;
}

}  // namespace

Exit run_trial(const Fleet& fleet, const Folder& folder, std::size_t trial, Stage stage,
               const Catalog& catalog, const std::atomic<bool>& stop, const Note& note) {
  const Stage last = fleet.config().rungs.size();
  if (trial >= fleet.num_trials() || stage > last) {
    throw UsageError(fmt::format("trial {}, stage {}: the fleet has {} trials and {} stages", trial,
                                 stage, fleet.num_trials(), last + 1));
  }
  if (is_entered(folder.entries(), trial, stage, last)) { return Exit::ok; }
  try {
    const auto entry = train(fleet, folder, trial, stage, catalog, stop, note);
    if (!entry) { return Exit::preempted; }
    folder.append(*entry);
    return Exit::ok;
  } catch (const Error& error) {
    if (!may_pass(error.exit())) {
      folder.append({.trial = trial,
                     .stage = stage,
                     .exit = static_cast<std::int64_t>(error.exit()),
                     .error = error.what()});
    }
    throw;
  }
}

}  // namespace penstock::fleet
