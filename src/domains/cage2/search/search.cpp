#include "penstock/domains/cage2/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "domains/cage2/search/journaled_evaluator.h"
#include "domains/cage2/search/regret.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/search/games.h"

namespace penstock::cage2 {
namespace {

using detail::Ask;
using detail::Candidates;
using detail::JournaledEvaluator;
using detail::Measure;
using search::kNumOrders;

constexpr std::uint32_t kUnconditioned = kNumOrders;  // owners of seeds, after those of the orders
constexpr std::uint32_t kPicks = kNumOrders + 1;
constexpr int kMaxReplicates = 1024;  // trainings of one order in one repetition
constexpr int kOfTruth = 1 << 20;     // the repetition whose seeds are the ground truth's

void require(bool holds, const char* key, double value, const char* allowed) {
  if (!holds) { throw ConfigError(fmt::format("search {} = {}: {}", key, value, allowed)); }
}

void check(const SearchOptions& o) {
  require(o.num_workflows >= 1 && (!o.all_orders || o.num_workflows <= kNumOrders), "n_workflows",
          o.num_workflows, "1 or more, of all orders at most 120, their number");
  require(o.num_seeds >= 1 && o.num_seeds <= kMaxReplicates, "seeds", o.num_seeds, "1 to 1024");
  require(o.num_workflows <= kMaxReplicates / o.num_seeds, "n_workflows", o.num_workflows,
          "at most 1024 trainings, n_workflows times seeds");
  require(o.truth_seeds >= 1 && o.truth_seeds <= kMaxReplicates, "truth_seeds", o.truth_seeds,
          "1 to 1024");
  require(o.num_initial >= 1, "initial", o.num_initial, "at least 1");
  require(o.batch >= 1, "batch", o.batch, "at least 1");
  require(o.workers >= 1, "workers", o.workers, "at least 1");
  require(o.pool >= 0 && o.pool < kOfTruth, "pool", o.pool, "0, and fewer than a million");
  require(o.repetitions >= 0 && o.repetitions < kOfTruth, "repetitions", o.repetitions,
          "at least 0, and fewer than a million");
  require(!o.beta || (*o.beta >= 0 && std::isfinite(*o.beta)), "beta", o.beta.value_or(0),
          "0 or more");
  require(o.delta > 0 && o.delta < 1, "delta", o.delta, "between 0 and 1");
}

/// Which training of which repetition.
struct Replicate {
  int repetition = 0;
  int number = 0;
};

/// A seed that a config takes: it has 63 bits there.
std::uint64_t seed_of(const SearchOptions& options, std::uint32_t owner, Replicate replicate) {
  const auto use = std::uint64_t{kMaxReplicates} * static_cast<std::uint64_t>(replicate.repetition);
  return episode_seed(options.seed, owner, use + static_cast<std::uint64_t>(replicate.number)) >>
         1U;
}

/// What a repetition takes as an order's training `number`: its own, or the first one of another
/// repetition, drawn from those of the pool. When all of them were drawn they come again.
Replicate drawn_from_pool(const SearchOptions& options, int index, Replicate wanted) {
  if (options.pool == 0 || wanted.repetition == 0) { return wanted; }
  Random random({.seed = options.seed,
                 .owner = static_cast<std::uint32_t>(index),
                 .episode = static_cast<std::uint64_t>(wanted.repetition),
                 .stream = Stream::search});
  std::vector<int> of_pool(static_cast<std::size_t>(options.pool));
  std::iota(of_pool.begin(), of_pool.end(), 1);
  for (std::size_t left = of_pool.size(); left > 1; --left) {
    std::swap(of_pool[left - 1], of_pool[random.below(static_cast<std::uint32_t>(left))]);
  }
  return {of_pool[static_cast<std::size_t>(wanted.number % options.pool)], 0};
}

WorkflowJob training_of(const SearchOptions& options, int index, Replicate replicate) {
  WorkflowJob job = options.job;
  job.order = search::all_orders()[index];
  job.conditioned = true;
  job.seed = seed_of(options, index, replicate);
  return job;
}

/// `count` each, in their order.
std::vector<std::vector<WorkflowResult>> in_groups(std::vector<WorkflowResult> results,
                                                   std::size_t count) {
  std::vector<std::vector<WorkflowResult>> groups;
  for (auto next = results.begin(); next != results.end();) {
    const auto end = next + static_cast<std::ptrdiff_t>(count);
    groups.emplace_back(std::make_move_iterator(next), std::make_move_iterator(end));
    next = end;
  }
  return groups;
}

Measure measure_with(const SearchOptions& options, JournaledEvaluator& evaluator, int repetition) {
  return [&options, &evaluator, repetition](const std::vector<Ask>& asks) {
    std::vector<WorkflowJob> jobs;
    for (const Ask& ask : asks) {
      for (int k = 0; k < options.num_seeds; ++k) {
        const int number = ask.num_before * options.num_seeds + k;
        const Replicate replicate = drawn_from_pool(options, ask.index, {repetition, number});
        jobs.push_back(training_of(options, ask.index, replicate));
      }
    }
    return in_groups(evaluator.measure(jobs), static_cast<std::size_t>(options.num_seeds));
  };
}

/// Orders that are one game are one candidate.
Candidates candidates_of(const SearchOptions& options) {
  const TypeSet at_risk = options.all_orders ? kAllTypes : types_at_risk(options);
  Candidates candidates;
  for (int i = 0; i < kNumOrders; ++i) {
    const Order& order = search::all_orders()[i];
    if (canonical(order, at_risk) == order) { candidates.push_back(i); }
  }
  return candidates;
}

/// The candidate that is the same game.
int candidate_for(const SearchOptions& options, const Order& order) {
  return search::index_of(options.all_orders ? order : canonical(order, types_at_risk(options)));
}

Measured unconditioned(const SearchOptions& options, JournaledEvaluator& evaluator) {
  std::vector<WorkflowJob> jobs;
  for (int k = 0; k < options.num_seeds; ++k) {
    jobs.push_back(training_of(options, 0, {}));
    jobs.back().conditioned = false;
    jobs.back().seed = seed_of(options, kUnconditioned, {0, k});
  }
  return measured_of({Trial{0, 0, evaluator.measure(jobs)}}).front();
}

std::vector<Measured> fixed_orders(const SearchOptions& options, const Measure& measure) {
  std::vector<Ask> asks;
  for (const Order& order : options.fixed_orders) {
    const int index = candidate_for(options, order);
    if (std::ranges::find(asks, index, &Ask::index) == asks.end()) { asks.push_back({index, 0}); }
  }
  const std::vector<std::vector<WorkflowResult>> results = measure(asks);
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    trials.push_back({asks[i].index, 0, results[i]});
  }
  return measured_of(trials);
}

Baselines run_baselines(const SearchOptions& options, const Candidates& candidates,
                        JournaledEvaluator& evaluator) {
  const Measure measure = measure_with(options, evaluator, 0);
  return {
      detail::explore_randomly(options, candidates, episode_seed(options.seed, kPicks, 1), measure),
      fixed_orders(options, measure), unconditioned(options, evaluator)};
}

/// Every candidate, with seeds that no search has: an order that was lucky there is not here.
std::vector<Measured> train_anew(const SearchOptions& options, const Candidates& candidates,
                                 JournaledEvaluator& evaluator) {
  std::vector<WorkflowJob> jobs;
  for (const int index : candidates) {
    for (int k = 0; k < options.truth_seeds; ++k) {
      jobs.push_back(training_of(options, index, {kOfTruth, k}));
    }
  }
  auto groups = in_groups(evaluator.measure(jobs), static_cast<std::size_t>(options.truth_seeds));
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    trials.push_back({candidates[i], 0, std::move(groups[i])});
  }
  return measured_of(trials);
}

int rank_in(const SearchOptions& options, const std::vector<Measured>& all, int index) {
  const std::vector<int> ranking = detail::rank(options, all);
  const auto found = std::ranges::find(ranking, index, [&](int place) { return all[place].index; });
  const bool counts = found != ranking.end() && usable(options, all[*found].result);
  return counts ? static_cast<int>(found - ranking.begin()) + 1 : 0;
}

GroundTruth run_exhaustive(const SearchOptions& options, const SearchResult& found,
                           JournaledEvaluator& evaluator) {
  GroundTruth truth;
  truth.all = train_anew(options, found.candidates, evaluator);
  truth.best = detail::best_of(options, truth.all).value_or(-1);
  if (truth.best < 0) { return truth; }
  if (found.best) {
    truth.rank_of_best = rank_in(options, truth.all, found.measured[*found.best].index);
  }
  truth.regret = detail::measure_regret(options, truth, found, [&](int repetition) {
    return measure_with(options, evaluator, repetition);
  });
  return truth;
}

}  // namespace

WorkflowJob job_of(const SearchOptions& options, int index, int replicate) {
  return training_of(options, index, {0, replicate});
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
  result.candidates = candidates_of(options);
  result.trials = detail::explore(options, result.candidates, episode_seed(options.seed, kPicks, 0),
                                  measure_with(options, evaluator, 0));
  result.measured = measured_of(result.trials);
  result.noise = noise_of(result.measured);
  result.ranking = detail::rank(options, result.measured);
  result.best = detail::best_of(options, result.measured);
  result.belief = detail::fit_belief(options, result.measured);
  if (options.baselines) {
    result.baselines = run_baselines(options, result.candidates, evaluator);
  }
  if (options.exhaustive) { result.truth = run_exhaustive(options, result, evaluator); }
  return result;
}

}  // namespace penstock::cage2
