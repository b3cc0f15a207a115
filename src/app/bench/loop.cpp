#include "app/bench/loop.h"

#include <algorithm>

#include "penstock/core/base/stopwatch.h"

namespace penstock::detail {

double run_for(Engine& engine, double seconds, TimeSplit& spent) {
  const Stopwatch watch;
  const std::int64_t before = engine.timesteps();
  do {
    Stopwatch lap;
    engine.sample(engine.steps_left());
    const double sampled = lap.lap();
    engine.update();
    spent.learn += lap.lap();
    const SampleTime time = engine.source().take_time();
    const double threads = std::max(1e-12, time.env + time.infer + time.copy);
    spent.env += sampled * time.env / threads;
    spent.infer += sampled * time.infer / threads;
    spent.copy += sampled * time.copy / threads;
    engine.source().take_episodes();
  } while (watch.seconds() < seconds);
  return (engine.timesteps() - before) / watch.seconds();
}

void run_until_tuned(Engine& engine, const RunConfig& config) {
  constexpr int kMaxIterations = 128;  // more than a Tuner needs for two candidates
  TimeSplit ignored;
  for (int i = 0; i < kMaxIterations; ++i) {
    run_for(engine, 0, ignored);
    if (i > 0 && (config.threads > 0 || engine.tuning().choices > 0)) { return; }
  }
}

}  // namespace penstock::detail
