#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// Moves single requests to cheaper places until none is left. The requests are those served.
/// Deterministic: the order of the requests decides between moves. The cost only falls.
void relocate(RouteSet& routes, std::span<const std::int32_t> requests);

/// Ruin and recreate: takes related requests out and puts each back where it is cheapest, in
/// a random order; a plan that is not worse is kept. Keeps its memory from problem to problem.
/// One thread at a time; the result is a function of routes, requests and `random`.
class RuinRecreate {
 public:
  /// `requests` are those served.
  void improve(RouteSet& routes, std::span<const std::int32_t> requests, std::int32_t rounds,
               Random& random);

  /// Makes room for a request that fits nowhere: takes out requests related to it, puts it in first
  /// and then them. False, with the routes as they were, when no round succeeds.
  bool squeeze_in(RouteSet& routes, std::span<const std::int32_t> requests, std::int32_t request,
                  std::int32_t rounds, Random& random);

 private:
  void pick_related(const RouteSet& routes, std::span<const std::int32_t> requests,
                    std::int32_t centre, std::size_t count, Random& random);
  bool ruin(RouteSet& routes) const;
  bool recreate(RouteSet& routes, Cost most) const;

  std::vector<std::pair<std::int64_t, std::int32_t>> ranked_;
  std::vector<std::int32_t> removed_;
};

}  // namespace penstock::booking
