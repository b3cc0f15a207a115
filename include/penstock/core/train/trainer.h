#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/run_listener.h"

namespace penstock {

namespace detail {
/// Where a run stands, in everything that can end it.
struct Spent {
  std::int64_t timesteps = 0;
  std::int64_t episodes = 0;
  double seconds = 0;  // of all sittings
};
}  // namespace detail

/// Trains an engine and keeps its run directory: metrics, checkpoints, evaluation.
/// Not thread-safe. Run is the front of it, with the directory's lock, config.toml and manifest.
class Trainer {
 public:
  /// Plan and directory must outlive it.
  /// Makes the engine, and with it envs and threads.
  Trainer(const RunPlan& plan, RunDir& dir, RunListener listener);
  Trainer(RunPlan&&, RunDir&, RunListener) = delete;

  /// Continues from the newest whole checkpoint; DataError when there is none.
  /// Metrics that the directory holds beyond that checkpoint are dropped.
  void resume();
  /// Until the budget is spent or `stop` is set; checks it several times a second.
  /// Saves before it begins where nothing is saved yet, and when it ends, also by an exception that
  /// leaves the engine whole. May be called again after a stop.
  Summary run(const std::atomic<bool>& stop);

  /// For an listener, or while run() does not: the engine, and a checkpoint of it now.
  [[nodiscard]] Engine& engine() { return engine_; }
  /// Marks the checkpoint as the best where the score has grown. Throws IoError.
  void save();

 private:
  void train(const std::atomic<bool>& stop);
  void save_what_is_whole();
  void gather(const std::atomic<bool>& stop);
  void learn();
  void log(Metrics metrics);
  void log_stats(Metrics& metrics) const;
  void print_header() const;
  void print_update(const Metrics& metrics);
  std::vector<EpisodeEnd> count_episodes();
  void report_incidents();
  bool evaluate_now(const std::atomic<bool>* stop);
  [[nodiscard]] bool episodes_end() const;
  void note_tuning();
  void save_if_due();
  [[nodiscard]] bool done() const;
  [[nodiscard]] detail::Spent spent() const;
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Metrics perf() const;
  [[nodiscard]] double cpu_util() const;
  [[nodiscard]] double score() const;
  [[nodiscard]] double mean_reward() const;  // of the window; NaN before the first episode
  [[nodiscard]] double mean_length() const;  // likewise

  const RunPlan& plan_;
  RunDir& dir_;
  RunListener listener_;
  Engine engine_;

  // The run's own state, saved with every checkpoint.
  std::int64_t num_episodes_ = 0;
  std::int64_t num_discarded_ = 0;
  std::deque<EpisodeEnd> window_;  // the last kWindow episodes
  double best_score_;              // of the checkpoints so far; minus infinity before the first
  std::int64_t next_eval_ = 0;     // timesteps
  double seconds_before_ = 0;      // of the sittings before this one

  // This process's.
  Stopwatch since_start_;
  detail::Spent started_at_;
  Stopwatch since_save_;
  std::int64_t last_save_at_ = -1;
  std::int64_t last_save_update_ = 0;
  std::vector<EpisodeEnd> since_log_;  // episodes that no printed line has told of
  EvalResult last_eval_;
  double seconds_per_step_ = 0;  // of every env once
  SampleTime sample_time_;
  double cpu_before_s_ = 0;  // used when this sitting began
  double last_update_s_ = 0;
  double sample_s_ = 0;
  double learn_s_ = 0;
  int tunings_noted_ = 0;
  std::int64_t num_incidents_ = 0;
  bool ended_ = false;  // by the listener
};

}  // namespace penstock
