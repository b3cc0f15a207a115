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
  WorkflowJob job;  // what trainings share; order, seed and threads are set for each
  std::vector<std::string> settings;  // key=value of every training, as the evaluator applies them
  bool all_orders = false;  // 120 orders, none evaluated twice; else one order of each game, again
                            // where that tells more
  int num_workflows = 20;   // the budget: evaluations of the search
  int num_seeds = 3;        // trainings of an evaluation, each with a seed of its own
  int num_initial = 5;      // evaluations that lie far apart before there is anything to learn from
  int batch = 2;            // evaluations between two looks at the data
  std::optional<double> beta;  // of the upper bounds; none: search::beta_at
  double delta = 0.1;
  search::Liar liar = search::Liar::mean;
  bool only_compliant = true;  // keep orders that do not comply out of the fit and of the ranking
  bool learn_compliance =
      true;  // and learn from them which orders hardly comply, to pass them over
  std::uint64_t seed = 0;

  bool baselines = true;  // random search, fixed orders, unconditioned PPO
  std::vector<Order> fixed_orders = {{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 1, 3, 4, 0}};
  bool exhaustive = false;  // train all orders anew and measure regret
  int truth_seeds = 10;     // trainings of each order for that, with seeds that no search uses
  int repetitions = 10;     // of search and of random search, each with training seeds of its own
  int pool =
      0;  // or each draws from as many trainings of an order, none twice; 0: seeds of its own

  int workers = 1;                // trainings at a time; results do not depend on it
  std::string out;                // a folder for the journal; empty: none is kept
  std::string evaluator = "ppo";  // a journal serves one evaluator
  /// Called with each training, in the order of the journal; one call at a time.
  std::function<void(const WorkflowJob&, const WorkflowResult&)> on_result = {};
};

/// An evaluation of the search: some trainings of an order.
struct Trial {
  int index = 0;  // of the order
  int batch = 0;
  std::vector<WorkflowResult> runs;
};

/// The variance between returns of trainings of one order, which differ by their seed alone. Pooled
/// over orders, each about its own mean.
struct Noise {
  double variance = 0;
  int freedom = 0;  // degrees of freedom; 0: no order was trained twice, nothing is known
};

/// All trainings of one order.
struct Measured {
  int index = 0;  // of the order
  std::vector<WorkflowResult> runs;
  /// Means over the runs. The standard error is that of the mean over training seeds where the
  /// noise is known, else that of the episodes; an order complies when most of its runs do. Curve
  /// and digest are those of a single run, or empty.
  WorkflowResult result;
};
/// As first seen in the trials, and what they tell of the noise.
std::vector<Measured> measured_of(const std::vector<Trial>& trials);
Noise noise_of(const std::vector<Measured>& orders);
/// Half of the 95 % interval of a result's mean return: Student's, by the noise's degrees of
/// freedom, or normal where nothing is known of it.
double half_width(const WorkflowResult& result, const Noise& noise);
/// The same of the 99 % interval.
double half_width_99(const WorkflowResult& result, const Noise& noise);

/// What the search believes of all orders.
struct Belief {
  search::Hyper hyper;
  bool lambda_at_bound = false;  // the data do not tell it
  double log_marginal = 0;
  int num_observations = 0;
  std::vector<search::Measurement> data;
  search::Posterior posterior;
};

/// What the search is to be measured against, each with the job's training.
struct Baselines {
  std::vector<Trial> random;  // with the budget of the search
  std::vector<Measured> fixed;
  Measured unconditioned;
};

/// A mean with its 95 % and its 99 % interval over repetitions.
struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
  double low_99 = 0;
  double high_99 = 0;
};
/// Student's; all equal for one value.
Interval interval_of(const std::vector<double>& values);

/// Simple regret: how much worse than the best order the one is that would be chosen after t
/// evaluations, both by trainings with seeds that no search saw. While nothing has complied yet,
/// the order chosen is the worst.
struct Regret {
  std::vector<double> own;       // of the search itself, t = 1, 2, ...
  std::vector<Interval> search;  // over repetitions
  std::vector<Interval> random;
  std::vector<double> search_final;  // at the end, by repetition
  std::vector<double> random_final;
  Interval gain;       // random's minus the search's at the end, by repetition
  Interval mean_gain;  // the same for the mean over t
};

/// All candidates, trained anew.
struct GroundTruth {
  std::vector<Measured> all;     // by place among the candidates
  int best = -1;                 // a place; -1: nothing complied
  int rank_of_best = 0;          // of the search's best order, 1 the first; 0: it does not count
  std::optional<Regret> regret;  // none when nothing complied
};

/// Places and indices are of these lists; orders go by their index in search::all_orders().
struct SearchResult {
  std::vector<int> candidates;     // indices of the orders that the search picks among
  std::vector<Trial> trials;       // as they were picked
  std::vector<Measured> measured;  // the same by order
  Noise noise;
  std::vector<int>
      ranking;  // places in measured: the compliant by falling mean return, then the others
  std::optional<int> best;  // a place in measured; none when nothing complied
  Belief belief;
  std::optional<Baselines> baselines;
  std::optional<GroundTruth> truth;
};

/// One training of an order, number `replicate` of the search's. The seed belongs to order and
/// number, not to when it was picked: search and baselines share results.
WorkflowJob job_of(const SearchOptions& options, int index, int replicate = 0);

/// Whether an order, or a training, counts.
bool usable(const SearchOptions& options, const WorkflowResult& result);

/// GP-UCB over workflows. Picks depend on finished batches only, so any number of workers gives the
/// same result.
///
/// With `out`, each training is a line of out/journal.jsonl, in the order of the picks and on the
/// disk before the search goes on; a search killed at any instant and started again with the same
/// options ends with the same journal, byte by byte, and the same result. A journal of other
/// evaluations (another red, another seed, ...) is refused with a ConfigError that names the
/// difference; more workflows, seeds, baselines or the exhaustive evaluation go on from the same
/// one.
SearchResult run_search(const SearchOptions& options, const Evaluate& evaluate);

}  // namespace penstock::cage2
