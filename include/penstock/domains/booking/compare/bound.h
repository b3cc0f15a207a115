#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/domains/booking/compare/evaluate.h"

namespace penstock::booking {

/// What days would come to if everybody agreed to everything: each window begins 30 minutes earlier
/// and ends 30 minutes later than wished. No policy promises wider ones, so a perfect planner would
/// make this a bound of all; rr-1000 and PyVRP come close to one.
struct Bound {
  std::vector<Cost> costs;             // [days], of the better of the two plans
  std::vector<std::int32_t> unserved;  // [days]
  std::int64_t reference_days = 0;     // that PyVRP solved too
};

/// Of the days that evaluate_offers plays with the same options; PyVRP solves
/// `options.reference_days` of them.
Bound bound_of(const EvaluationSetup& setup, ThreadPool& pool, const EvaluationOptions& options);

}  // namespace penstock::booking
