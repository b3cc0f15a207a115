#include <algorithm>
#include <functional>

#include "app/bench/libtorch_baseline.h"
#include "app/bench/loop.h"
#include "app/bench/rounds.h"
#include "penstock/app/bench/bench.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/train/engine.h"

namespace penstock {
namespace {

TimeSplit shares(const TimeSplit& spent) {
  const double total = spent.env + spent.infer + spent.copy + spent.learn;
  return {spent.env / total, spent.infer / total, spent.copy / total, spent.learn / total};
}

}  // namespace

PpoBench bench_ppo(const RunPlan& plan, const BenchOptions& options) {
  Engine engine(plan);
  detail::run_until_tuned(engine, plan.config());
  PpoBench result;
  std::function<double(double)> bare;
  if (options.bare) {
    bare = detail::make_bare(plan, engine.tuning().threads);
    bare(0.1);
  }
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  TimeSplit spent;
  detail::Rounds rounds(options);
  while (rounds.next()) {
    ours.push_back(detail::run_for(engine, options.round_seconds, spent));
    if (!bare) { continue; }
    theirs.push_back(bare(options.round_seconds));
    ratios.push_back(ours.back() / theirs.back());
  }
  result.ours = rate_of(ours);
  if (bare) {
    result.bare = rate_of(theirs);
    result.ratio = rate_of(ratios).median;
  }
  result.split = shares(spent);
  result.threads = engine.tuning().threads;
  result.fused = engine.fused();
  return result;
}

}  // namespace penstock
