#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/run_listener.h"
#include "penstock/core/train/run_state.h"

namespace penstock {

namespace detail {
/// Where a run stands, in everything that can end it.
struct Spent {
  std::int64_t timesteps = 0;
  std::int64_t episodes = 0;
  double seconds = 0;  // of all sittings
};

class Crew;
struct Mishaps;
class Saver;
}  // namespace detail

/// Trains an engine and keeps its run directory: metrics, checkpoints, evaluation.
/// Not thread-safe. Run is the front of it, with the directory's lock, config.toml and manifest.
class Trainer {
 public:
  /// Plan, directory and peers must outlive it.
  /// Makes the engine, and with it envs and threads. Of several processes this is rank 0; the
  /// others follow_run().
  Trainer(const RunPlan& plan, RunDir& dir, RunListener listener, Peers& peers = alone(),
          Carrier* carrier = nullptr);
  ~Trainer();
  Trainer(RunPlan&&, RunDir&, RunListener, Peers&, Carrier*) = delete;

  /// Continues from the newest whole checkpoint; DataError when there is none.
  /// Metrics that the directory holds beyond that checkpoint are dropped.
  void resume();
  /// Before the first step: weights and normaliser of another run, see Engine::start_from().
  void start_from(const Checkpoint& checkpoint);
  /// Until the budget is spent or `stop` is set; checks it several times a second.
  /// Saves before it begins where nothing is saved yet, and when it ends, also by an exception that
  /// leaves the engine whole. In between checkpoints are written beside training. Throws IoError
  /// once run.save_tries of them have failed in a row, PeerError when another process is lost. May
  /// be called again after a stop.
  Summary run(const std::atomic<bool>& stop);

  /// For a listener, or while run() does not: the engine, and a checkpoint of it now.
  [[nodiscard]] Engine& engine() { return engine_; }
  /// On the disk when it returns. Marks the checkpoint as the best where the score has grown.
  /// Throws IoError.
  void save();

 private:
  void train(const std::atomic<bool>& stop);
  bool gather(const std::atomic<bool>& stop);
  void learn();
  void tell(Metrics metrics);
  [[nodiscard]] Metrics timed(const std::function<Metrics()>& update);
  void evaluate_if_due();
  void log(Metrics metrics);
  void write_log(const Metrics& metrics);
  void finish_log();
  void add_rollout(Metrics& metrics, const Progress& now) const;
  void log_stats(Metrics& metrics) const;
  void print_header() const;
  void print_update(const Metrics& metrics);
  void count(const std::vector<EpisodeEnd>& ends);
  void report(const detail::Mishaps& mishaps);
  void report_skipped();
  [[nodiscard]] bool write_aside(const std::function<void()>& write) const;
  bool evaluate_now(const std::atomic<bool>* stop);
  Summary finish(const std::atomic<bool>& stop);
  [[nodiscard]] bool episodes_end() const;
  void note_tuning();
  [[nodiscard]] bool done() const;
  [[nodiscard]] detail::Spent spent() const;
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Summary summary() const;
  [[nodiscard]] Metrics perf() const;
  [[nodiscard]] double cpu_util() const;
  [[nodiscard]] double score() const;
  [[nodiscard]] detail::RunState moment() const;

  const RunPlan& plan_;
  RunDir& dir_;
  RunListener listener_;
  Engine engine_;
  std::unique_ptr<detail::Crew> crew_;
  std::size_t num_ranks_;
  detail::RunState state_;

  // This process's.
  Stopwatch since_start_;
  detail::Spent started_at_;
  std::vector<EpisodeEnd> since_log_;  // episodes that no printed line has told of
  double seconds_per_step_ = 0;        // of every env once
  double segment_s_ = 0.1;             // of sampling between two looks at `stop`
  SampleTime sample_time_;
  double cpu_before_s_ = 0;  // used when this sitting began
  double last_update_s_ = 0;
  double sample_s_ = 0;
  double learn_s_ = 0;
  int tunings_noted_ = 0;
  std::int64_t num_incidents_ = 0;
  bool ended_ = false;                    // by the listener
  bool log_works_ = true;                 // as far as was told
  std::unique_ptr<detail::Saver> saver_;  // the last one: it waits for the save in flight
};

}  // namespace penstock
