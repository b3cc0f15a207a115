#pragma once
#include <cstdint>

#include "penstock/domains/booking/routing/instance.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// A plan under work: a RouteSet whose plan can be read after every change. Reused from problem to
/// problem it allocates nothing. One thread at a time, const calls included.
class Tours {
 public:
  /// All vehicles at the depot. The instance must outlive the tours' use of it.
  void clear(const Instance& instance);
  /// The plan must be feasible.
  void load(const Instance& instance, const Plan& plan);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Cost cost() const { return routes_.cost(); }

  /// The cheapest place of a request that is not in the plan; ties go to the first place in order
  /// of vehicle, first, second.
  [[nodiscard]] Insertion cheapest(std::int32_t request) const { return routes_.cheapest(request); }
  /// The same, were its windows these.
  [[nodiscard]] Insertion cheapest(std::int32_t request, const RequestWindows& windows) const {
    return routes_.cheapest(request, windows);
  }
  /// At a place that cheapest() gave for the instance's windows as they are now.
  void insert(std::int32_t request, const Insertion& at);
  void remove(std::int32_t request);

 private:
  RouteSet routes_;
  Plan plan_;
};

}  // namespace penstock::booking
