#include <memory>

#include "app/bench/loop.h"
#include "app/bench/rounds.h"

namespace penstock {
namespace {

/// A cell's run, and what its rounds brought.
struct Running {
  std::unique_ptr<RunPlan> plan;
  std::unique_ptr<Engine> engine;
  std::vector<double> rates;
  std::vector<double> vs_one_thread;
  std::vector<double> cost_vs_fewest;
};

/// What `threads = auto` settles on.
std::size_t picked_threads(const MakePlan& make_plan, std::int64_t num_envs) {
  const std::unique_ptr<RunPlan> plan = make_plan(num_envs, 0);
  Engine engine(*plan);
  detail::run_until_tuned(engine, plan->config());
  return engine.tuning().threads;
}

/// Every cell once, and their ratios within this round.
void run_round(std::vector<std::vector<Running>>& rows, double seconds) {
  TimeSplit ignored;
  for (std::vector<Running>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      Running& cell = row[i];
      cell.rates.push_back(detail::run_for(*cell.engine, seconds, ignored));
      cell.vs_one_thread.push_back(cell.rates.back() / row[0].rates.back());
      cell.cost_vs_fewest.push_back(rows[0][i].rates.back() / cell.rates.back());
    }
  }
}

}  // namespace

std::vector<ScaleRow> bench_scale(const MakePlan& make_plan,
                                  const std::vector<std::int64_t>& num_envs,
                                  const std::vector<std::int64_t>& threads,
                                  const BenchOptions& options) {
  std::vector<ScaleRow> result;
  std::vector<std::vector<Running>> rows(num_envs.size());
  for (std::size_t n = 0; n < num_envs.size(); ++n) {
    result.push_back(
        {.num_envs = num_envs[n], .cells = {}, .picked = picked_threads(make_plan, num_envs[n])});
    for (const std::int64_t count : threads) {
      Running& cell = rows[n].emplace_back();
      cell.plan = make_plan(num_envs[n], count);
      cell.engine = std::make_unique<Engine>(*cell.plan);
      detail::run_until_tuned(*cell.engine, cell.plan->config());
    }
  }
  detail::Rounds rounds(options);
  while (rounds.next()) { run_round(rows, options.round_seconds); }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      const Running& cell = rows[n][i];
      const std::size_t count = threads[i];
      result[n].cells.push_back({num_envs[n], count, rate_of(cell.rates),
                                 rate_of(cell.vs_one_thread).median,
                                 rate_of(cell.cost_vs_fewest).median});
      if (count == result[n].picked) {
        result[n].picked_vs_one = result[n].cells.back().vs_one_thread;
      }
    }
  }
  return result;
}

}  // namespace penstock
