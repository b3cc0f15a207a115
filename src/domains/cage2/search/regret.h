#pragma once
#include "domains/cage2/search/gp_ucb.h"

namespace penstock::cage2::detail {

/// The best usable one, or -1.
int best_order(const SearchOptions& options, const std::vector<WorkflowResult>& all);

/// Simple regret after 1, 2, ... trials.
std::vector<double> regret_of(const SearchOptions& options, const GroundTruth& truth,
                              const std::vector<Trial>& trials);

/// Repeats search and random search. `measure_in(r)` evaluates within repetition r = 1, 2, ...
Regret measure_regret(const SearchOptions& options, const GroundTruth& truth,
                      const std::vector<Trial>& own,
                      const std::function<Measure(int repetition)>& measure_in);

}  // namespace penstock::cage2::detail
