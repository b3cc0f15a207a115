#pragma once
#include "penstock/domains/cage2/search/search.h"

namespace penstock::cage2::detail {

/// An order to evaluate, and how many evaluations it has had in this search.
struct Ask {
  int index = 0;
  int num_before = 0;
};

/// Trains each options.num_seeds times, with seeds that its evaluations before did not have.
using Measure =
    std::function<std::vector<std::vector<WorkflowResult>>(const std::vector<Ask>& asks)>;

/// What picks are made among, by index.
using Candidates = std::vector<int>;

/// GP-UCB in batches, after a first design that lies far apart.
std::vector<Trial> explore(const SearchOptions& options, const Candidates& candidates,
                           std::uint64_t seed, const Measure& measure);
/// As many evaluations of orders drawn at random: none again before all were.
std::vector<Trial> explore_randomly(const SearchOptions& options, const Candidates& candidates,
                                    std::uint64_t seed, const Measure& measure);

/// What the usable orders say of all.
Belief fit_belief(const SearchOptions& options, const std::vector<Measured>& orders);

/// Places in `orders`: the usable ones by falling mean return, the earlier first among equals, then
/// the others likewise.
std::vector<int> rank(const SearchOptions& options, const std::vector<Measured>& orders);

/// The place of the best usable one, or none.
std::optional<int> best_of(const SearchOptions& options, const std::vector<Measured>& orders);

}  // namespace penstock::cage2::detail
