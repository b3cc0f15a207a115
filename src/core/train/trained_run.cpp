#include "penstock/core/train/trained_run.h"
#include "penstock/core/train/run_state.h"

#include <ATen/ATen.h>

#include <charconv>

#include "core/train/checkpoint_tensors.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/train/engine.h"

namespace penstock {
namespace {

/// The version that the weights are of.
std::int64_t updates_of(const Checkpoint& checkpoint) {
  return detail::counter(detail::counters_of(checkpoint), "updates");
}

}  // namespace

Checkpoint chosen_checkpoint(RunDir& dir, const std::string& which, CheckpointPart part,
                             const Note& note) {
  CheckpointStore& store = dir.checkpoints();
  if (which == "latest") { return store.load_latest(note, part); }
  if (which == "best") {
    if (const auto best = store.best()) { return store.load(*best, part); }
    throw DataError(dir.path() + ": no checkpoint is marked best yet; use --checkpoint latest");
  }
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), step);
  if (error != std::errc{} || end != which.data() + which.size()) {
    throw UsageError("--checkpoint " + which + ": expected latest, best or a step");
  }
  return store.load(step, part);
}

Player player_of(const RunPlan& plan, const Checkpoint& checkpoint) {
  const RunConfig& config = plan.config();
  const EnvSpec spec = plan.env().spec();
  Policy policy = make_policy(plan, spec, 1);
  detail::read_weights(checkpoint, policy);
  policy.set_version(updates_of(checkpoint));
  ObsNormaliser normaliser;
  detail::check_normalised(checkpoint, config.normalise.obs);
  if (config.normalise.obs) {
    normaliser = ObsNormaliser(spec.obs, config.normalise.clip_obs);
    normaliser.set_moments(detail::read_moments(checkpoint, spec.obs.size()));
  }
  const auto shape = policy.shape(spec, make_action_head(spec.action, config.net.squash),
                                  config.normalise.obs ? config.normalise.clip_obs : 0);
  return {policy.publish(shape, normaliser), detail::shared_bytes(checkpoint)};
}

TrainedRun open_run(const RunChoice& choice, const Catalog& catalog, const Note& note) {
  RunDir dir(choice.dir, RunDir::Open::read);
  TrainedRun run;
  run.settings = recorded_config(dir, choice.trust, note);
  for (const Setting& change : choice.changes.all()) { run.settings.append(change); }
  run.plan = std::make_unique<RunPlan>(run.settings, catalog);
  const Checkpoint checkpoint =
      chosen_checkpoint(dir, choice.checkpoint, CheckpointPart::policy, note);
  run.player = player_of(*run.plan, checkpoint);
  run.timesteps = checkpoint.step;
  return run;
}

}  // namespace penstock
