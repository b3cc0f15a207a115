#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/train/config.h"

namespace penstock {

/// Median and extremes of the rounds.
struct Rate {
  double median = 0;
  double low = 0;
  double high = 0;
};

Rate rate_of(std::vector<double> rounds);

struct BenchOptions {
  int rounds = 5;
  double round_seconds = 1.0;
  std::function<void(int done, int total)> progress = [](int, int) {};
};

/// Env steps per second with random legal actions and no policy: the plan's env, number of envs and
/// threads, each thread stepping a block of its own.
Rate bench_env(const Plan& plan, const BenchOptions& options);

struct PpoBench {
  Rate ours;
  Rate bare;
  double ratio = 0;  // median of the rounds' own ratios
};

/// End-to-end samples per second of the plan, in turns with "bare": the same tensor maths in plain
/// libtorch on random data, with no envs and no bookkeeping. Bare gets the same number of threads,
/// as intra-op threads, which is how libtorch uses them. The plan must be a discrete env and an
/// MLP.
PpoBench bench_ppo(const Plan& plan, const BenchOptions& options);

}  // namespace penstock
