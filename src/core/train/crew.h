#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/peers/peers.h"
#include "penstock/core/train/engine.h"

namespace penstock::detail {

/// What went wrong with envs and was survived, of all processes, in the order of their envs.
struct Mishaps {
  std::int64_t discarded = 0;  // episodes
  std::vector<Incident> incidents;
  double seconds = 0;  // of stepping, in this process, without its messages
};

/// The processes of a run at work together. Rank 0 holds the run directory and decides: it calls,
/// and each call is made by all. The others follow(). With one process a call is the engine's own.
///
/// Not thread-safe. An env that fails anywhere fails everywhere: all throw, and name its process.
class Crew {
 public:
  /// All of it outlives the crew.
  Crew(const RunPlan& plan, Engine& engine, Peers& peers)
      : plan_(plan), engine_(engine), peers_(peers) {}

  // What rank 0 calls.

  /// Whether a stop was asked for, here or elsewhere.
  [[nodiscard]] bool stops(bool here);
  [[nodiscard]] Mishaps sample(std::int64_t num_steps);
  /// Of the rollout, which is full; in the order of (shard, step, env).
  [[nodiscard]] std::vector<EpisodeEnd> take_episodes();
  Metrics update(double done);
  /// As the engine of one process would take it.
  void snapshot(Engine::Snapshot& into);
  /// Episodes are dealt to the processes by number. None where `options.stop` was set anywhere.
  std::vector<EpisodeEnd> play(const EvalOptions& options);
  /// Throws Error when the weights of two processes differ: their results cannot be trusted.
  void compare_weights();
  void restore(const Checkpoint& checkpoint);
  void start_from(const Checkpoint& checkpoint);

  /// The others leave; they return or throw by how it ended. Never throws: they may be gone.
  static void dismiss(Peers& peers, Exit how) noexcept;

  // What the others call.

  /// Until rank 0 has ended the run. Throws what ended it, PeerError when rank 0 is gone.
  [[nodiscard]] Exit follow(const std::atomic<bool>& stop);

 private:
  enum class Task : std::uint64_t;
  struct Order;

  void announce(Task task, double number = 0) { announce(peers_, task, number); }
  static void announce(Peers& peers, Task task, double number);
  [[nodiscard]] Order next_order();
  void obey(const Order& order, const std::atomic<bool>& stop);
  Mishaps sample_here(std::int64_t num_steps);
  std::vector<EpisodeEnd> take_episodes_here();
  std::vector<EpisodeEnd> play_here(const EvalOptions& options);
  void take_checkpoint(Task task, const Checkpoint* checkpoint);

  const RunPlan& plan_;
  Engine& engine_;
  Peers& peers_;
  Engine::Snapshot part_;  // of a process that follows
};

/// How a run evaluates its policy.
EvalOptions eval_options(const RunPlan& plan, const std::atomic<bool>* stop);

/// Throws everywhere when something failed anywhere: what failed here, else an Error of the same
/// exit that names the process. Every process calls it.
void fail_together(Peers& peers, const std::exception_ptr& failure);

}  // namespace penstock::detail
