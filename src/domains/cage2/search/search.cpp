#include "penstock/domains/cage2/search/search.h"

#include <fmt/format.h>

#include <cmath>

#include "domains/cage2/search/journaled_evaluator.h"
#include "domains/cage2/search/regret.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"

namespace penstock::cage2 {
namespace {

using detail::JournaledEvaluator;
using detail::Measure;
using search::kNumOrders;

constexpr std::uint32_t kUnconditioned = kNumOrders;  // owners of seeds, after those of the orders
constexpr std::uint32_t kPicks = kNumOrders + 1;

void require(bool holds, const char* key, double value, const char* allowed) {
  if (!holds) { throw ConfigError(fmt::format("search {} = {}: {}", key, value, allowed)); }
}

void check(const SearchOptions& o) {
  require(o.num_workflows >= 1 && o.num_workflows <= kNumOrders, "n_workflows", o.num_workflows,
          "1 to 120, the number of orders");
  require(o.num_initial >= 1, "initial", o.num_initial, "at least 1");
  require(o.batch >= 1, "batch", o.batch, "at least 1");
  require(o.workers >= 1, "workers", o.workers, "at least 1");
  require(o.repetitions >= 0, "repetitions", o.repetitions, "at least 0");
  require(!o.beta || (*o.beta >= 0 && std::isfinite(*o.beta)), "beta", o.beta.value_or(0),
          "0 or more");
  require(o.delta > 0 && o.delta < 1, "delta", o.delta, "between 0 and 1");
}

/// A seed that a config takes: it has 63 bits there.
std::uint64_t seed_of(const SearchOptions& options, std::uint32_t owner, std::uint64_t repetition) {
  return episode_seed(options.seed, owner, repetition) >> 1U;
}

WorkflowJob repeated_job(const SearchOptions& options, int index, int repetition) {
  WorkflowJob job = options.job;
  job.order = search::all_orders()[index];
  job.conditioned = true;
  job.seed = seed_of(options, index, repetition);
  return job;
}

std::vector<WorkflowJob> jobs_of(const SearchOptions& options, const std::vector<int>& indices,
                                 int repetition) {
  std::vector<WorkflowJob> jobs;
  jobs.reserve(indices.size());
  for (const int index : indices) { jobs.push_back(repeated_job(options, index, repetition)); }
  return jobs;
}

Measure measure_with(const SearchOptions& options, JournaledEvaluator& evaluator, int repetition) {
  return [&options, &evaluator, repetition](const std::vector<int>& indices) {
    return evaluator.measure(jobs_of(options, indices, repetition));
  };
}

Baselines run_baselines(const SearchOptions& options, JournaledEvaluator& evaluator) {
  const Measure measure = measure_with(options, evaluator, 0);
  Baselines baselines;
  std::vector<int> fixed;
  for (const Order& order : options.fixed_orders) { fixed.push_back(search::index_of(order)); }
  baselines.fixed = measure(fixed);

  WorkflowJob free = repeated_job(options, 0, 0);
  free.conditioned = false;
  free.seed = seed_of(options, kUnconditioned, 0);
  baselines.unconditioned = evaluator.measure({free}).front();
  baselines.random =
      detail::explore_randomly(options, episode_seed(options.seed, kPicks, 1), measure);
  return baselines;
}

Measure look_up(const GroundTruth& truth) {
  return [&truth](const std::vector<int>& indices) {
    std::vector<WorkflowResult> results;
    for (const int index : indices) { results.push_back(truth.all[index]); }
    return results;
  };
}

GroundTruth run_exhaustive(const SearchOptions& options, const std::vector<Trial>& own,
                           JournaledEvaluator& evaluator) {
  GroundTruth truth;
  std::vector<int> indices;
  for (int i = 0; i < kNumOrders; ++i) { indices.push_back(i); }
  truth.all = evaluator.measure(jobs_of(options, indices, 0));
  truth.best = detail::best_order(options, truth.all);
  if (truth.best < 0) { return truth; }
  truth.regret = detail::measure_regret(options, truth, own, [&](int repetition) {
    return options.retrain ? measure_with(options, evaluator, repetition) : look_up(truth);
  });
  return truth;
}

}  // namespace

WorkflowJob job_of(const SearchOptions& options, int index) {
  return repeated_job(options, index, 0);
}

std::string order_text(const Order& order) {
  std::string text;
  for (const int type : order) {
    text += text.empty() ? "" : " > ";
    text += kTypeNames.at(type);
  }
  return text;
}

bool usable(const SearchOptions& options, const WorkflowResult& result) {
  return (result.compliant || !options.only_compliant) && std::isfinite(result.mean_return) &&
         std::isfinite(result.std_error);
}

SearchResult run_search(const SearchOptions& options, const Evaluate& evaluate) {
  check(options);
  JournaledEvaluator evaluator(options, evaluate);
  SearchResult result;
  result.trials = detail::explore(options, episode_seed(options.seed, kPicks, 0),
                                  measure_with(options, evaluator, 0));
  result.ranking = detail::rank(options, result.trials);
  result.best = detail::best_of(options, result.trials, result.trials.size());
  result.belief = detail::fit_belief(options, result.trials);
  if (options.baselines) { result.baselines = run_baselines(options, evaluator); }
  if (options.exhaustive) { result.truth = run_exhaustive(options, result.trials, evaluator); }
  return result;
}

}  // namespace penstock::cage2
