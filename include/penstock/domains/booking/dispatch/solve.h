#pragma once
#include <cstdint>

#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {

/// How long to search. With iterations alone the result is a function of (problem, config); with a
/// limit of time it depends on the machine too.
struct SolveConfig {
  double seconds = 1;           // 0: no limit of time
  std::int64_t iterations = 0;  // 0: no limit
  std::uint64_t seed = 1;
};

/// A plan that serves the tasks of the highest priorities first, then as many as may be, then at
/// the least cost. Begins with the steps that vehicles have, if they keep all rules. Slack
/// induction by string removals (Christiaens and Vanden Berghe, Transportation Science 2020), for
/// fleets of all kinds; one thread. Throws UsageError when nothing limits it.
Schedule solve(Problem problem, const SolveConfig& config);

}  // namespace penstock::booking::dispatch
