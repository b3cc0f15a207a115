#include <fmt/format.h>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/limits.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/engine.h"

// Whether there is room for a run, asked before it begins.

namespace penstock {
namespace {

/// " under `ulimit -v`", where somebody sets a limit.
std::string under(const Room& room) { return room.limit.empty() ? "" : " under " + room.limit; }

/// ", or raise the limit: ...", likewise.
std::string remedy(const Room& room) {
  return room.remedy.empty() ? "" : ", or raise the limit: " + room.remedy;
}

}  // namespace

void RunPlan::require_room(const Limits& limits) const {
  require_memory(limits.memory());
  require_files(limits.open_files());
  require_processes(limits.processes());
}

void RunPlan::require_memory(const Room& room) const {
  const MemoryEstimate need = memory();
  if (need.total() <= room.left) { return; }
  const auto megabytes = [](std::int64_t bytes) { return bytes / 1e6; };
  throw ConfigError(fmt::format(
      "the run needs about {:.0f} MB and {:.0f} MB are free{}: rollout {:.0f} MB (rollout.steps x "
      "env.num_envs and the rollouts of an update), weights and gradients {:.0f} MB (net.*, "
      "rollout.shards), optimiser {:.0f} MB, batches {:.0f} MB (the minibatch); lower what takes "
      "the most{}",
      megabytes(need.total()), megabytes(room.left), under(room), megabytes(need.rollout),
      megabytes(need.weights), megabytes(need.optimiser), megabytes(need.batches), remedy(room)));
}

/// Of training and, beside it, of an evaluation.
std::int64_t RunPlan::worker_processes() const {
  const auto of = [this](std::int64_t envs) {
    return envs > 0 ? static_cast<std::int64_t>(env_->num_processes(envs)) : 0;
  };
  return of(config_.env.num_envs) + of(config_.run.eval_episodes);
}

void RunPlan::require_files(const Room& room) const {
  constexpr std::int64_t kOfRun = 5;      // the lock, metrics, events, a checkpoint, its folder
  constexpr std::int64_t kOfWorkers = 8;  // what all of them share
  const std::int64_t workers = worker_processes();
  const std::int64_t need = kOfRun + (workers > 0 ? kOfWorkers + workers : 0);
  if (need <= room.left) { return; }
  throw ConfigError(fmt::format(
      "the run needs about {} open files and {} are free{}; {}raise the limit: {}", need, room.left,
      under(room), workers > 0 ? "use fewer workers (env.num_workers), or " : "", room.remedy));
}

void RunPlan::require_processes(const Room& room) const {
  constexpr std::int64_t kThreads = 2;  // of a worker: that of the envs, and one that watches
  const std::int64_t workers = worker_processes();
  const std::int64_t threads = threads_of(*this);
  const std::int64_t need = threads + (workers > 0 ? kThreads * (workers + 1) : 0);
  if (need <= room.left) { return; }
  throw ConfigError(fmt::format(
      "the run needs about {} processes and threads and {} are free{}; use fewer threads{}{}", need,
      room.left, under(room), workers > 0 ? " or workers (threads, env.num_workers)" : " (threads)",
      remedy(room)));
}

}  // namespace penstock
