#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/stopwatch.h"
#include "penstock/store/run_dir.h"
#include "penstock/train/engine.h"
#include "penstock/train/evaluate.h"

namespace penstock {

/// Where a run stands, for whoever watches.
struct Progress {
  std::int64_t timesteps = 0;
  std::int64_t total_timesteps = 0;
  std::int64_t episodes = 0;
  double fps = 0;          // env steps per second, of this process
  double ep_rew_mean = 0;  // of the last 100 episodes; NaN before the first
  double elapsed_s = 0;
};

/// What a run tells its surroundings; all calls come from the thread in run().
struct Observer {
  std::function<void(const Progress&)> progress = [](const Progress&) {};  // several times a second
  std::function<void(const Progress&, const Metrics&)> logged = [](const Progress&,
                                                                   const Metrics&) {};
  std::function<void(const std::string&)> note = [](const std::string&) {
  };  // saved, resumed, damaged
  std::function<void(const std::string&)> line = [](const std::string&) {
  };  // with run.print_updates: what runs, and each update
};

/// How a run ended.
struct Summary {
  std::string digest;
  std::int64_t total_timesteps = 0;
  std::int64_t updates = 0;
  std::int64_t episodes = 0;
  std::int64_t discarded = 0;  // episodes cut short by failing envs
  std::int64_t incidents = 0;  // failures of envs that this process survived
  bool preempted = false;      // a stop was asked for; the run is saved and can be resumed
  EvalResult eval;             // episodes == 0: none
  double fps = 0;
  double time_elapsed = 0;
  Metrics perf;

  /// One line of JSON.
  [[nodiscard]] std::string line() const;
};

/// Trains an engine and keeps its run directory: metrics, checkpoints, evaluation.
class Trainer {
 public:
  Trainer(const Plan& plan, RunDir& dir, Observer observer);

  /// Continues from the newest whole checkpoint; DataError when there is none.
  void resume();
  /// Until the budget is spent or `stop` is set; checks it several times a second.
  Summary run(const std::atomic<bool>& stop);

  /// For an observer, or while run() does not: the engine, and a checkpoint of it now.
  [[nodiscard]] Engine& engine() { return engine_; }
  void save();

 private:
  void gather(const std::atomic<bool>& stop);
  void learn();
  void log(Metrics metrics);
  void log_stats(Metrics& metrics) const;
  void print_header() const;
  void print_update(const Metrics& metrics);
  void count_episodes();
  void report_incidents();
  void evaluate_now();
  void note_tuning();
  void save_if_due();
  [[nodiscard]] bool done() const;
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Metrics perf() const;
  [[nodiscard]] double score() const;
  [[nodiscard]] double mean_reward() const;  // of the window; NaN before the first episode

  const Plan& plan_;
  RunDir& dir_;
  Observer observer_;
  Engine engine_;

  // The run's own state, saved with every checkpoint.
  std::int64_t num_episodes_ = 0;
  std::int64_t num_discarded_ = 0;
  std::deque<EpisodeEnd> window_;  // the last kWindow episodes
  double best_score_;
  std::int64_t next_eval_ = 0;

  // This process's.
  Stopwatch since_start_;
  std::int64_t started_at_ = 0;  // timesteps
  Stopwatch since_save_;
  std::int64_t last_save_at_ = -1;
  std::int64_t last_save_update_ = 0;
  std::vector<EpisodeEnd> since_log_;  // episodes that no printed line has told of
  EvalResult last_eval_;
  double seconds_per_step_ = 0;  // of every env once
  SampleTime sample_time_;
  double sample_s_ = 0;
  double learn_s_ = 0;
  int tunings_noted_ = 0;
  std::int64_t num_incidents_ = 0;
};

}  // namespace penstock
