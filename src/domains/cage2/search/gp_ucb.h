#pragma once
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// Evaluates orders, by index.
using Measure = std::function<std::vector<WorkflowResult>(const std::vector<int>& orders)>;

/// GP-UCB in batches, after a first design that lies far apart.
std::vector<Trial> explore(const SearchOptions& options, std::uint64_t seed,
                           const Measure& measure);
/// Orders drawn at random, as many.
std::vector<Trial> explore_randomly(const SearchOptions& options, std::uint64_t seed,
                                    const Measure& measure);

/// What the usable trials say of all orders.
Belief fit_belief(const SearchOptions& options, const std::vector<Trial>& trials);

/// Places in `trials`: the usable ones by falling mean return, the earlier first among equals, then
/// the others likewise.
std::vector<int> rank(const SearchOptions& options, const std::vector<Trial>& trials);

/// The best usable one of the first `count`, or none.
std::optional<int> best_of(const SearchOptions& options, const std::vector<Trial>& trials,
                           std::size_t count);

}  // namespace penstock::cage2::detail
