#include "penstock/domains/cage2/workflow/orders.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/moments.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run.h"

namespace penstock::cage2 {
namespace {

// Places in EpisodeEnd::stats, see WorkflowEnv::spec().
constexpr std::size_t kReturnStat = 0;
constexpr std::size_t kComplianceStat = 1;
constexpr std::size_t kFixesStat = 2;
constexpr std::size_t kLostComplianceStat = 3;

}  // namespace

OrderScore score_of(std::span<const EpisodeEnd> ends) {
  OrderScore score;
  Moments returns;
  for (const EpisodeEnd& end : ends) {
    returns.add(end.stats[kReturnStat]);
    score.compliance += end.stats[kComplianceStat];
    score.lost_compliance += end.stats[kLostComplianceStat];
    score.fixes += end.stats[kFixesStat];
    score.worth += end.total_reward;
  }
  for (double* sum : {&score.compliance, &score.lost_compliance, &score.fixes, &score.worth}) {
    *sum /= returns.count;
  }
  score.mean_return = returns.mean;
  score.std_error = std::sqrt(returns.m2 / std::max(1.0, returns.count - 1) / returns.count);
  return score;
}

OrderScore play_order(const TrainedRun& run, const Catalog& catalog, const OrderGames& games) {
  const std::string& env = run.plan->config().env.id;
  if (env != "cage2_workflow") {
    throw UsageError("the run's env is " + env + ": orders are kept in cage2_workflow");
  }
  Settings settings = run.settings;
  settings.add("env.red", games.red, "the games");
  settings.add("env.order", order_name(games.order), "the games");
  const RunPlan plan(settings, catalog);
  ThreadPool pool({.num_threads = threads_of(plan), .on_start = use_one_torch_thread});
  return score_of(play_episodes(
      run.player, plan.env(), pool,
      {.episodes = games.episodes, .seed = games.seed, .deterministic = !games.sampled}));
}

}  // namespace penstock::cage2
