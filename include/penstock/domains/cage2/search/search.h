#pragma once
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/cage2/search/acquisition.h"
#include "penstock/domains/cage2/sim/workflow_job.h"

namespace penstock::cage2 {

/// Trains and measures one workflow: a function of the job (threads change nothing). Called from
/// several threads at once.
using Evaluate = std::function<WorkflowResult(const WorkflowJob&)>;

/// Names of the types, by number.
inline constexpr std::array<std::string_view, 5> kTypeNames = {"defender", "enterprise",
                                                               "op_server", "op_host", "user"};
/// "op_server > enterprise > ...".
std::string order_text(const Order& order);

/// Without workers, out and on_result: what the result is a function of, beside the evaluator.
struct SearchOptions {
  WorkflowJob job;         // what evaluations share; order, seed and threads are set for each
  int num_workflows = 20;  // the budget: evaluations of the search
  int num_initial = 5;  // of them, those that lie far apart before there is anything to learn from
  int batch = 2;        // evaluations between two looks at the data
  std::optional<double> beta;  // of the upper bounds; none: search::beta_at(t, delta)
  double delta = 0.1;
  search::Liar liar = search::Liar::mean;
  bool fit_noise = false;      // beside the standard errors, one variance of all evaluations
  bool only_compliant = true;  // keep runs that do not comply out of the fit and of the ranking
  bool learn_compliance =
      true;  // and learn from them which orders hardly comply, to pass them over
  std::uint64_t seed = 0;

  bool baselines = true;  // random search, fixed orders, unconditioned PPO
  std::vector<Order> fixed_orders = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 1, 3, 4, 0}};
  bool exhaustive = false;  // evaluate all orders and measure regret
  int repetitions = 10;     // of search and of random search, for the regret
  bool retrain =
      false;  // repetitions train again; else they look results up in the exhaustive ones

  int workers = 1;                // evaluations at a time; results do not depend on it
  std::string out;                // a folder for the journal; empty: none is kept
  std::string evaluator = "ppo";  // a journal serves one evaluator
  /// Called with each evaluation, in the order of the journal; one call at a time.
  std::function<void(const WorkflowJob&, const WorkflowResult&)> on_result = {};
};

/// An evaluation of the search.
struct Trial {
  int index = 0;  // of the order
  int batch = 0;
  WorkflowResult result;
};

/// What the search believes of all orders.
struct Belief {
  search::Hyper hyper;
  double log_marginal = 0;
  int num_observations = 0;
  search::Posterior posterior;
};

/// What the search is to be measured against, each with the job's training.
struct Baselines {
  std::vector<Trial> random;  // with the budget of the search
  std::vector<WorkflowResult> fixed;
  WorkflowResult unconditioned;
};

/// A mean with its 95 % interval over repetitions.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};
/// Student's; all three equal for one value.
Interval interval_of(const std::vector<double>& values);

/// Simple regret: how much worse than the best order the one is that would be chosen after t
/// evaluations, both by the exhaustive results. While nothing has complied yet, the order chosen is
/// the worst.
struct Regret {
  std::vector<double> own;       // of the search itself, t = 1, 2, ...
  std::vector<Interval> search;  // over repetitions
  std::vector<Interval> random;
  std::vector<double> search_final;  // at the end, by repetition
  std::vector<double> random_final;
  Interval gain;       // random's minus the search's at the end, by repetition
  Interval mean_gain;  // the same for the mean over t
};

/// All 120 orders, evaluated.
struct GroundTruth {
  std::vector<WorkflowResult> all;  // by index
  int best = -1;                    // -1: nothing complied
  std::optional<Regret> regret;     // none when nothing complied
};

/// Places and indices are of these lists; orders go by their index in search::all_orders().
struct SearchResult {
  std::vector<Trial> trials;  // as they were picked
  std::vector<int>
      ranking;  // places in trials: the compliant by falling mean return, then the others
  std::optional<int> best;  // a place in trials; none when nothing complied
  Belief belief;
  std::optional<Baselines> baselines;
  std::optional<GroundTruth> truth;
};

/// What is evaluated of an order. The seed belongs to the order, not to when it was picked: search,
/// baselines and the exhaustive evaluation share results.
WorkflowJob job_of(const SearchOptions& options, int index);

/// Whether an evaluation counts.
bool usable(const SearchOptions& options, const WorkflowResult& result);

/// GP-UCB over the 120 workflows; no order is evaluated twice. Picks depend on finished batches
/// only, so any number of workers gives the same result.
///
/// With `out`, each evaluation is a line of out/journal.jsonl, in the order of the picks and on the
/// disk before the search goes on; a search killed at any instant and started again with the same
/// options ends with the same journal, byte by byte, and the same result. A journal of other
/// evaluations (another red, another seed, ...) is refused with a ConfigError that names the
/// difference; more workflows, baselines or the exhaustive evaluation go on from the same one.
SearchResult run_search(const SearchOptions& options, const Evaluate& evaluate);

}  // namespace penstock::cage2
