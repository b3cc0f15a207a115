#include <algorithm>
#include <functional>

#include "penstock/base/stopwatch.h"
#include "penstock/train/bench.h"
#include "penstock/train/engine.h"
#include "train/bare.h"
#include "train/rounds.h"

namespace penstock {
namespace {

/// Whole iterations for about `seconds`, at least one.
double ours_round(Engine& engine, double seconds, TimeSplit& spent) {
  const Stopwatch watch;
  const std::int64_t before = engine.timesteps();
  do {
    Stopwatch lap;
    engine.sample(engine.steps_left());
    const double sampled = lap.lap();
    engine.update();
    spent.learn += lap.lap();
    const SampleTime time = engine.sampler().take_time();
    const double threads = std::max(1e-12, time.env + time.infer + time.copy);
    spent.env += sampled * time.env / threads;
    spent.infer += sampled * time.infer / threads;
    spent.copy += sampled * time.copy / threads;
    engine.sampler().take_episodes();
  } while (watch.seconds() < seconds);
  return static_cast<double>(engine.timesteps() - before) / watch.seconds();
}

/// Until what is left to "auto" is chosen and first uses are paid for.
void settle(Engine& engine, const RunConfig& config) {
  constexpr int kMaxIterations = 30;
  TimeSplit ignored;
  for (int i = 0; i < kMaxIterations; ++i) {
    ours_round(engine, 0, ignored);
    if (i > 0 && (config.threads > 0 || engine.tuning().choices > 0)) { return; }
  }
}

TimeSplit shares(const TimeSplit& spent) {
  const double total = spent.env + spent.infer + spent.copy + spent.learn;
  return {spent.env / total, spent.infer / total, spent.copy / total, spent.learn / total};
}

}  // namespace

PpoBench bench_ppo(const Plan& plan, const BenchOptions& options) {
  Engine engine(plan);
  settle(engine, plan.config());
  PpoBench result;
  std::function<double(double)> bare;
  if (options.bare) {
    bare = detail::make_bare(plan, static_cast<std::int64_t>(engine.tuning().threads));
    bare(0.1);
  }
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  TimeSplit spent;
  detail::Rounds rounds(options);
  while (rounds.next()) {
    ours.push_back(ours_round(engine, options.round_seconds, spent));
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

namespace {

/// The engines of one number of envs, one per number of threads, in turns.
ScaleRow scale_row(const MakePlan& make_plan, std::int64_t num_envs,
                   const std::vector<std::int64_t>& threads, const BenchOptions& options) {
  ScaleRow row{.num_envs = num_envs, .cells = {}};
  {
    const std::unique_ptr<Plan> plan = make_plan(num_envs, 0);
    Engine automatic(*plan);
    settle(automatic, plan->config());
    row.picked = automatic.tuning().threads;
  }
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<std::unique_ptr<Engine>> engines;
  for (const std::int64_t count : threads) {
    plans.push_back(make_plan(num_envs, count));
    engines.push_back(std::make_unique<Engine>(*plans.back()));
    settle(*engines.back(), plans.back()->config());
  }
  std::vector<std::vector<double>> rates(engines.size());
  std::vector<std::vector<double>> ratios(engines.size());
  TimeSplit ignored;
  detail::Rounds rounds(options);
  while (rounds.next()) {
    for (std::size_t i = 0; i < engines.size(); ++i) {
      rates[i].push_back(ours_round(*engines[i], options.round_seconds, ignored));
      ratios[i].push_back(rates[i].back() / rates[0].back());
    }
  }
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const auto count = static_cast<std::size_t>(threads[i]);
    row.cells.push_back({num_envs, count, rate_of(rates[i]), rate_of(ratios[i]).median});
    if (count == row.picked) { row.picked_vs_one = row.cells.back().vs_one_thread; }
  }
  return row;
}

}  // namespace

std::vector<ScaleRow> bench_scale(const MakePlan& make_plan,
                                  const std::vector<std::int64_t>& num_envs,
                                  const std::vector<std::int64_t>& threads,
                                  const BenchOptions& options) {
  std::vector<ScaleRow> rows;
  for (const std::int64_t count : num_envs) {
    rows.push_back(scale_row(make_plan, count, threads, options));
    for (std::size_t i = 0; i < rows.back().cells.size(); ++i) {
      ScaleCell& cell = rows.back().cells[i];
      cell.cost_vs_fewest = rows.front().cells[i].rate.median / cell.rate.median;
    }
  }
  return rows;
}

}  // namespace penstock
