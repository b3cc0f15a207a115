#include <memory>

#include "app/bench/loop.h"
#include "app/bench/rounds.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock {
namespace {

/// A cell's run, and what its rounds brought.
struct Contender {
  WorkersCell cell;
  std::unique_ptr<RunPlan> plan;
  std::unique_ptr<Engine> engine;
  std::vector<double> rates;
  std::vector<double> vs_first;
  double cpu_s = 0;
  double wall_s = 0;
};

Contender start(const MakePlan& make_plan, std::int64_t num_envs, std::int64_t workers) {
  Contender running;
  running.cell.num_envs = num_envs;
  running.cell.workers = workers;
  running.plan = make_plan(num_envs, workers);
  running.engine = std::make_unique<Engine>(*running.plan);
  detail::run_until_tuned(*running.engine, running.plan->config());
  return running;
}

/// Every number of workers once, and their ratios to the first within this round.
void run_turn(std::vector<Contender>& row, double seconds) {
  TimeSplit ignored;
  for (Contender& running : row) {
    const Stopwatch watch;
    const double before = running.engine->cpu_used_s();
    running.rates.push_back(detail::run_for(*running.engine, seconds, ignored));
    running.cpu_s += running.engine->cpu_used_s() - before;
    running.wall_s += watch.seconds();
    running.vs_first.push_back(running.rates.back() / row[0].rates.back());
  }
}

WorkersCell result_of(Contender& running) {
  WorkersCell cell = running.cell;
  cell.processes = running.engine->envs().processes().count;
  cell.threads = running.engine->tuning().threads;
  cell.rate = rate_of(running.rates);
  cell.vs_first = rate_of(running.vs_first).median;
  cell.cpu_util = running.cpu_s / (running.wall_s * available_cores());
  return cell;
}

}  // namespace

std::vector<WorkersCell> bench_workers(const MakePlan& make_plan,
                                       const std::vector<std::int64_t>& num_envs,
                                       const std::vector<std::int64_t>& workers,
                                       const BenchOptions& options) {
  std::vector<std::vector<Contender>> rows;
  for (const std::int64_t envs : num_envs) {
    std::vector<Contender>& row = rows.emplace_back();
    for (const std::int64_t count : workers) {
      if (count <= envs) { row.push_back(start(make_plan, envs, count)); }
    }
    row.push_back(start(make_plan, envs, WorkersCell::kAuto));
  }
  detail::Rounds rounds(options);
  while (rounds.next()) {
    for (std::vector<Contender>& row : rows) { run_turn(row, options.round_seconds); }
  }
  std::vector<WorkersCell> cells;
  for (std::vector<Contender>& row : rows) {
    for (Contender& running : row) { cells.push_back(result_of(running)); }
  }
  return cells;
}

}  // namespace penstock
