#pragma once
#include "domains/cage2/search/gp_ucb.h"

namespace penstock::cage2::detail {

/// Simple regret after 1, 2, ... trials. What is chosen is the order that was measured best by
/// then.
std::vector<double> regret_of(const SearchOptions& options, const GroundTruth& truth,
                              const std::vector<Trial>& trials);

/// Repeats search and random search. `measure_in(r)` evaluates within repetition r = 1, 2, ...
Regret measure_regret(const SearchOptions& options, const GroundTruth& truth,
                      const SearchResult& found,
                      const std::function<Measure(int repetition)>& measure_in);

}  // namespace penstock::cage2::detail
