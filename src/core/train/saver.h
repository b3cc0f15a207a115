#pragma once
#include <cstdint>
#include <exception>
#include <functional>

#include "core/train/crew.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/store/checkpoint_writer.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run_listener.h"
#include "penstock/core/train/trainer.h"

namespace penstock::detail {

/// Seconds from a failure to the next try, after so many failures in a row: 1, 2, 4, ... 60.
double pause_after(std::int64_t failures);

/// The checkpoints of a run: when one is due, taken in memory, written beside training by a thread,
/// tried again where the disk refuses. One is in flight at most. What falls due meanwhile is not
/// queued: when the one in flight has ended, the state of that moment is taken.
///
/// Not thread-safe: one caller, which also hears of everything.
class Saver {
 public:
  /// Gives what is saved beside the engine, with the score of the moment.
  using Take = std::function<RunState()>;

  /// All of it outlives the saver.
  Saver(const RunPlan& plan, RunDir& dir, const Engine& engine, Crew& crew,
        const RunListener& listener);

  /// The engine stands where a checkpoint is that it was loaded from.
  void resumed(double best_score);
  [[nodiscard]] bool has_saved() const { return saved_at_ >= 0; }
  [[nodiscard]] double best_score() const { return best_score_; }

  /// Tells of a save that has ended. Throws IoError once run.save_tries have failed in a row.
  void poll();
  /// Polls; begins one when it is due and none is in flight.
  void begin_if_due(const Take& take);
  /// Until it is on the disk; one try. Throws IoError.
  void save_now(const Take& take);
  /// Until the engine's state is on the disk, with pauses between the tries, in which `meanwhile`
  /// is called several times a second. Throws as poll() does.
  void save_surely(const Take& take, const std::function<void()>& meanwhile);
  /// After a failure: waits for what is in flight, tries once if the engine is `whole`, and tells
  /// nothing: the first failure is the one to tell.
  void save_last(const Take& take, bool whole);

  /// The longest that training has waited for begin_if_due().
  [[nodiscard]] double longest_pause_s() const { return longest_pause_s_; }

 private:
  [[nodiscard]] bool due() const;
  void begin(const Take& take);
  void settle(const CheckpointWriter::End& end);
  void succeed();
  void fail(const std::exception_ptr& failure);

  const RunSection& config_;
  RunDir& dir_;
  const Engine& engine_;
  Crew& crew_;
  const RunListener& listener_;

  // Of the newest snapshot.
  Engine::Snapshot snapshot_;
  std::int64_t taken_at_ = -1;  // timesteps
  std::int64_t taken_update_ = 0;
  double taken_best_ = 0;  // the best score, were it saved
  bool is_best_ = false;
  Stopwatch since_taken_;

  std::int64_t saved_at_ = -1;  // timesteps of the newest that is on the disk
  double best_score_;           // of those
  std::int64_t failures_ = 0;   // in a row
  Stopwatch since_failure_;
  bool given_up_ = false;
  double longest_pause_s_ = 0;

  CheckpointWriter writer_;  // the last one: it reads the snapshot
};

}  // namespace penstock::detail
