#pragma once
#include <optional>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking::dispatch {

/// A problem of one depot and one kind of vehicle, as the search of the routing module takes it,
/// which is several times as fast as one that knows all rules.
struct Uniform {
  Instance instance;
  std::vector<std::int32_t> tasks;  // [requests], their numbers in the problem

  /// Its routes in stops of the problem, for every vehicle.
  [[nodiscard]] std::vector<std::vector<std::int32_t>> stops_of(const Plan& plan) const;
};
/// Nothing when the problem has more rules than an Instance.
std::optional<Uniform> as_uniform(const Problem& problem);

}  // namespace penstock::booking::dispatch
