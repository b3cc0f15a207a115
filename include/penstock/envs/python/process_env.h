#pragma once
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/envs/python/launcher.h"
#include "penstock/envs/python/restart_budget.h"
#include "penstock/envs/python/shared_rows.h"

namespace penstock {

/// Envs that live in worker processes, or in this one, behind shared rows. An env that throws,
/// hangs, gives a number that is not finite or loses its process is started again: the episode is
/// cut off where it was (the future counts from the last row seen), discarded from statistics, and
/// reported as an incident.
///
/// An episode is a function of its seed and actions: a checkpoint holds these, and a failure is
/// reproduced from them.
///
/// Thread safety is that of VecEnv; a worker serves envs of several ranges, and whichever thread
/// finds it dead starts it again. Throws Error when the budget of restarts is spent.
class ProcessEnv final : public VecEnv, private AsyncStepper {
 public:
  /// How the envs are run. Only `seed` changes what they do.
  struct Options {
    std::string id;                            // what a replay names it
    std::string kwargs;                        // likewise, JSON
    EnvSlice envs = {.first = 0, .count = 1};  // of the run; at least one
    std::uint64_t seed = 0;           // env i begins with seed + i, as Gymnasium's vector envs do
    std::size_t num_workers = 1;      // at most one per env
    double step_deadline_s = 60;      // a step that takes longer counts as hanging
    double start_deadline_s = 300;    // for a worker's first answer, and for making an env
    std::int64_t max_restarts = 10;   // of envs and workers together, see RestartBudget
    double restart_window_s = 3600;   // 0: a failure counts to the end
    bool keeps_state = false;         // envs tell their state, beyond the seed and the actions
    std::string replay_options = {};  // that `penstock replay` needs beside its file
  };

  /// Starts the workers and does not wait for them. The launcher lives as long as the last who
  /// holds it.
  ProcessEnv(EnvSpec spec, Options options, std::shared_ptr<Launcher> launcher);
  /// All in this process: `make` gets the rows that its worker is to serve.
  ProcessEnv(EnvSpec spec, Options options,
             const std::function<std::unique_ptr<InlineWorker>(SharedRows&)>& make);
  /// Asks the workers to close their envs, and kills those that take longer than two seconds.
  ~ProcessEnv() override;

  [[nodiscard]] const EnvSpec& spec() const override { return spec_; }
  [[nodiscard]] std::size_t num_envs() const override { return rows_.num_envs(); }
  /// Of worker processes; envs in this one step at once.
  AsyncStepper* async() override { return inline_ == nullptr ? this : nullptr; }

  [[nodiscard]] EnvProcesses processes() const override;

  /// The next episode has this very seed, as Gymnasium's reset(seed=...); later ones follow from
  /// it.
  void seed(std::size_t env, std::uint64_t seed) override;
  void reset(EnvRange range, ObsRows next) override;
  void step(EnvRange range, ActionRows actions, ObsRows next, OutcomeRows outcome) override;
  /// From any thread.
  std::vector<Incident> take_incidents() override;

  /// Seed and actions of the episode; the env is asked where it keeps state. Of episodes beyond a
  /// million steps only the seed is kept, and they are discarded when loaded.
  void save(std::size_t env, std::vector<std::byte>& out) const override;
  /// The actions are taken again by the next step, which may take long.
  void load(std::size_t env, std::span<const std::byte> bytes) override;

 private:
  struct Slot;
  struct Worker;

  // Both halves of step().
  void start_step(EnvRange range, ActionRows actions) override;
  void finish_step(EnvRange range, ObsRows next, OutcomeRows outcome) override;
  // Giving orders.
  void give(std::size_t env, Order order);
  void ring(EnvRange range);
  void begin_episode(std::size_t env, Order order);
  void write_action(std::size_t env, std::size_t row, ActionRows actions);
  // Waiting for answers.
  void await(EnvRange range);
  void await_worker(std::size_t worker, EnvRange part);
  void sleep_until_answered(std::size_t worker, EnvRange part);
  [[nodiscard]] double deadline_of(std::size_t worker) const;
  [[nodiscard]] bool answered(EnvRange part) const;
  void look_after(std::size_t worker, std::uint32_t generation, bool late);
  void restart(std::size_t worker, const std::string& cause);
  // Reading them.
  [[nodiscard]] std::optional<std::string> fault(std::size_t env) const;
  void retry_reset(std::size_t env);
  void read_row(std::size_t env, std::size_t row, ObsRows next);
  void read_outcome(std::size_t env, std::size_t row, OutcomeRows outcome);
  void discard(std::size_t env, std::size_t row, OutcomeRows outcome);
  // Failures.
  void report(std::size_t env, const std::string& cause);
  void add_incident(const std::string& what, std::string replay, std::string replay_name);
  void refuse_if_hopeless(std::size_t env, const std::string& cause);
  [[nodiscard]] std::size_t num_actions_of(std::size_t env) const;
  [[nodiscard]] std::string place(std::size_t env) const;
  [[nodiscard]] std::string replay_text(std::size_t env, const std::string& cause) const;
  // Resuming.
  void catch_up(EnvRange range);
  void repeat_actions(const std::vector<std::size_t>& envs);
  void compare_with_saved(std::size_t env);
  bool carry_state(std::size_t env, Order order, const std::string& path);
  std::string own_state(std::size_t env);
  bool give_state_back(std::size_t env);
  void remark(const std::string& message);

  EnvSpec spec_;
  Options options_;
  pid_t owner_;
  std::shared_ptr<Launcher> launcher_;
  SharedRows rows_;
  std::unique_ptr<InlineWorker> inline_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Slot> slots_;
  std::vector<float> last_obs_;  // [N, F]: a worker may die while it writes the shared ones

  std::mutex incidents_mutex_;
  std::vector<Incident> incidents_;
  std::string first_cause_;
  RestartBudget budget_;
  Stopwatch since_start_;
  std::string last_cause_;                    // without the place
  std::size_t last_step_ = 0;                 // that it was at
  std::int64_t alike_ = 0;                    // failures in a row with that cause at that step
  std::atomic<std::int64_t> furthest_{0};     // the most steps that an episode has had
  std::atomic<bool> told_of_inexact_{false};  // an env that was loaded is not where it was
};

}  // namespace penstock
