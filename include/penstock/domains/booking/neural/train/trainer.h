#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/base/stopwatch.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/fused/aligned.h"
#include "penstock/domains/booking/neural/model.h"
#include "penstock/domains/booking/neural/train/demonstrations.h"
#include "penstock/domains/booking/neural/train/pointer_network.h"

namespace penstock::booking {

/// How long, and how fast: by steps, which repeats to the last bit, or by minutes.
struct PhaseLength {
  std::int64_t steps = 0;
  double minutes = 0;  // where steps are 0
};

/// The result is a function of these and the demonstrations where lengths are steps.
struct TrainingOptions {
  ModelShape shape;
  Modes modes = Modes::both;
  std::uint64_t seed = 1;
  PhaseLength imitate;
  PhaseLength reinforce;
  double imitation_rate = 1e-3;      // Adam's, in the beginning
  double reinforce_rate = 1e-4;      // likewise
  std::int64_t batch_tokens = 1792;  // of a step: days times their stops
  std::int64_t samples = 8;          // plans per day, whose mean cost is the baseline
  double report_minutes = 2;         // between lines and checkpoints; where steps are given,
  std::int64_t report_steps = 100;   // these
};

/// A line of progress.
struct TrainingReport {
  const char* phase = "";  // "imitate" or "reinforce"
  std::int64_t step = 0;
  double minutes = 0;
  double loss = 0;       // imitation: mean surprise at the teacher's choices; else 0
  double mean_cost = 0;  // reinforcement: of the samples, against the first report's
  double ride_gap = 0;   // greedy plans of days kept aside, against the teacher's
  double deliver_gap = 0;
  double dead_ends = 0;  // their share
};

/// Trains a model: first to imitate a teacher's plans, then by REINFORCE, where the mean of several
/// sampled plans of a day is the baseline of each (POMO). Batches are cut into a fixed number of
/// shards; the pool decides only who computes them.
class OracleTrainer {
 public:
  /// Every 64th demonstration, the first among them, is kept aside for validation. The pool must
  /// outlive it. Throws UsageError for fewer than two demonstrations.
  OracleTrainer(const TrainingOptions& options, std::vector<Demonstration> demonstrations,
                ThreadPool& pool);

  /// Calls `report` now and then; the model is then worth saving. Goes on where it was loaded.
  void run(const std::function<void(const TrainingReport&)>& report);

  /// As trained so far; lives as long as the trainer.
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] std::int64_t imitation_steps() const { return imitated_; }
  [[nodiscard]] std::int64_t reinforce_steps() const { return reinforced_; }
  /// Everything that a run needs to go on: weights, moments, counters.
  void save_state(const std::string& path) const;
  /// Throws IoError, or DataError when the state is of another shape.
  void load_state(const std::string& path);

 private:
  using Batch = std::vector<const Demonstration*>;
  struct Clock {
    PhaseLength length;
    Stopwatch watch;
    [[nodiscard]] double progress(std::int64_t step) const;
  };
  [[nodiscard]] Batch draw_batch(std::int64_t step);
  [[nodiscard]] std::size_t batch_size(const CaseKind& kind) const;
  double imitate(std::int64_t step);
  double reinforce(std::int64_t step);
  void learn(double rate);
  void add_validation(TrainingReport& report);
  void run_phase(const char* name, const PhaseLength& length, std::int64_t& steps, bool imitates,
                 const std::function<void(const TrainingReport&)>& report);

  TrainingOptions options_;
  ThreadPool& pool_;
  std::vector<Demonstration> demonstrations_;  // by kind
  std::vector<Demonstration> kept_aside_;
  std::vector<std::size_t> begin_;  // of the kinds in demonstrations_, and the end
  Model model_;
  fused::AlignedFloats exp_avg_;
  fused::AlignedFloats exp_avg_sq_;
  std::vector<fused::AlignedFloats> gradients_;
  std::vector<PointerNetwork> networks_;
  std::int64_t imitated_ = 0;
  std::int64_t reinforced_ = 0;
};

}  // namespace penstock::booking
