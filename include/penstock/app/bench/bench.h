#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/train/config.h"

namespace penstock {

/// Median and extremes of the rounds.
struct Rate {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Of one number or more.
Rate rate_of(std::vector<double> rounds);

/// How long to measure.
struct BenchOptions {
  int rounds = 5;
  double round_seconds = 1.0;  // about; a round ends with an iteration
  double duration_s = 0;       // above 0: as many rounds as fit, at least one
  bool bare = true;            // bench_ppo: beside bare libtorch
  std::function<void(int done, int total)> progress = [](int, int) {};  // total 0: unknown
};

/// Env steps per second with random legal actions and no policy: the plan's env, number of envs and
/// threads, each thread stepping a block of its own.
Rate bench_env(const RunPlan& plan, const BenchOptions& options);

/// How the time of sampling and learning splits; sums to 1.
struct TimeSplit {
  double env = 0;
  double infer = 0;
  double copy = 0;
  double learn = 0;
};

/// Samples per second, each of a whole update: envs, policy and learning.
struct PpoBench {
  Rate ours;
  Rate bare;         // of zeros when it was left out
  double ratio = 0;  // median of the rounds' own ratios
  TimeSplit split;
  std::size_t threads = 1;
  bool fused = false;
};

/// End-to-end samples per second of the plan, in turns with "bare": the same tensor maths in plain
/// libtorch on random data, with no envs and no bookkeeping. Bare gets the same number of threads,
/// as intra-op threads, which is how libtorch uses them. Beside bare the plan must be a discrete
/// env.
PpoBench bench_ppo(const RunPlan& plan, const BenchOptions& options);

/// One number of envs on one number of threads.
struct ScaleCell {
  std::int64_t num_envs = 0;
  std::size_t threads = 1;
  Rate rate;
  double vs_one_thread = 1;   // median of the rounds' own ratios
  double cost_vs_fewest = 1;  // per sample, against the fewest envs on as many threads
};

/// One number of envs.
struct ScaleRow {
  std::int64_t num_envs = 0;
  std::vector<ScaleCell> cells;  // by threads
  std::size_t picked = 1;        // what `threads = auto` chose
  double picked_vs_one = 1;
};

/// Makes the plan of a sweep for a number of envs and of what is swept: threads (0: auto) or
/// workers.
using MakePlan = std::function<std::unique_ptr<RunPlan>(std::int64_t num_envs, std::int64_t count)>;

/// Samples per second for every number of envs on every number of threads, measured in turns.
std::vector<ScaleRow> bench_scale(const MakePlan& make_plan,
                                  const std::vector<std::int64_t>& num_envs,
                                  const std::vector<std::int64_t>& threads,
                                  const BenchOptions& options);

/// One number of envs with one number of workers.
struct WorkersCell {
  static constexpr std::int64_t kAuto = -1;
  std::int64_t num_envs = 0;
  std::int64_t workers = 0;   // as asked for
  std::size_t processes = 0;  // as it ran, with this many threads
  std::size_t threads = 1;
  Rate rate;
  double vs_first = 1;  // the fewest workers of the sweep; median of the rounds' own ratios
  double cpu_util = 0;  // share of the cores
};

/// Training samples per second for every number of envs with every number of workers up to it, and
/// with what `auto` makes of it, measured in turns.
std::vector<WorkersCell> bench_workers(const MakePlan& make_plan,
                                       const std::vector<std::int64_t>& num_envs,
                                       const std::vector<std::int64_t>& workers,
                                       const BenchOptions& options);

}  // namespace penstock
