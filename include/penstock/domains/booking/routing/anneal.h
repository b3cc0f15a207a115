#pragma once
#include <cstdint>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// How to anneal. With a limit of iterations alone the result is a function of (instance, config);
/// with a limit of time it depends on the machine too.
struct AnnealingConfig {
  double seconds = 10;          // 0: no limit of time
  std::int64_t iterations = 0;  // of each chain; 0: no limit
  std::int32_t chains = 2;      // independent ones, a thread each; the best plan is taken
  std::uint64_t seed = 1;
  bool vehicles_first = false;  // fewer vehicles are better than fewer metres, as SINTEF counts
  double hot = 5;               // temperatures at begin and end, in mean cost per stop
  double cold = 0.05;
};

/// Its cost is in the unit of the instance.
struct Annealed {
  Plan plan;  // the best found; without the requests in `unserved` when the fleet is too small
  Cost cost = 0;
  std::int32_t vehicles = 0;  // with a stop
  std::int32_t unserved = 0;
  std::int64_t iterations = 0;  // of all chains
};

/// A plan of all requests by slack induction by string removals (Christiaens and Vanden Berghe,
/// Transportation Science 2020). Throws UsageError when nothing limits it.
Annealed anneal(const Instance& instance, const AnnealingConfig& config);

}  // namespace penstock::booking
