#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/base/stopwatch.h"
#include "penstock/base/thread_pool.h"
#include "penstock/fused/aligned.h"
#include "penstock/routing_nn/model.h"
#include "penstock/routing_nn_train/lessons.h"
#include "penstock/routing_nn_train/network.h"

namespace penstock::routing {

/// How long, and how fast: by steps, which repeats to the last bit, or by minutes.
struct PhaseLength {
  std::int64_t steps = 0;
  double minutes = 0;  // where steps are 0
};

struct TrainingOptions {
  ModelShape shape;
  Modes modes = Modes::both;
  std::uint64_t seed = 1;
  PhaseLength imitate;
  PhaseLength reinforce;
  double imitation_rate = 1e-3;
  double reinforce_rate = 1e-4;
  std::int64_t batch_tokens = 1792;  // of a step: days times their stops
  std::int64_t samples = 8;          // plans per day, whose mean cost is the baseline
  double report_minutes = 2;         // between lines and checkpoints; where steps are given,
  std::int64_t report_steps = 100;   // these
};

/// A line of progress.
struct TrainingReport {
  const char* phase = "";
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
  OracleTrainer(const TrainingOptions& options, std::vector<Lesson> lessons, ThreadPool& pool);

  /// Calls `report` now and then; the model is then worth saving. Goes on where it was loaded.
  void run(const std::function<void(const TrainingReport&)>& report);

  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] std::int64_t imitation_steps() const { return imitated_; }
  [[nodiscard]] std::int64_t reinforce_steps() const { return reinforced_; }
  /// Everything that a run needs to go on: weights, moments, counters.
  void save_state(const std::string& path) const;
  void load_state(const std::string& path);

 private:
  using Batch = std::vector<const Lesson*>;
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
  std::vector<Lesson> lessons_;  // by kind
  std::vector<Lesson> kept_aside_;
  std::vector<std::size_t> begin_;  // of the kinds in lessons_, and the end
  Model model_;
  fused::AlignedFloats exp_avg_;
  fused::AlignedFloats exp_avg_sq_;
  std::vector<fused::AlignedFloats> gradients_;
  std::vector<Network> networks_;
  std::int64_t imitated_ = 0;
  std::int64_t reinforced_ = 0;
};

}  // namespace penstock::routing
