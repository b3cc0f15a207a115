#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "penstock/routing/instance.h"

namespace penstock::routing {

/// The windows of a request's nodes: [0] alone in deliver mode, pickup and drop-off in ride mode.
using RequestWindows = std::array<Window, 2>;

/// Where a request fits, and what it adds.
struct Insertion {
  static constexpr Cost kNowhere = std::numeric_limits<Cost>::max();
  Cost added = kNowhere;
  std::int32_t vehicle = 0;
  std::int32_t first = 0;   // the pickup (or the only stop) comes before this position
  std::int32_t second = 0;  // the drop-off comes before this position of the route as it was
  [[nodiscard]] bool fits() const { return added != kNowhere; }
};

/// A plan under work, with what insertion must know of each of its routes: earliest and latest
/// starts of service and loads. Reused from problem to problem it allocates nothing.
class Tours {
 public:
  /// All vehicles at the depot. The instance must outlive the tours' use of it.
  void clear(const Instance& instance);
  /// The plan must be feasible.
  void load(const Instance& instance, const Plan& plan);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] Cost cost() const { return cost_; }

  /// The cheapest place of a request that is not in the plan; ties go to the first place in order
  /// of vehicle, first, second.
  [[nodiscard]] Insertion cheapest(std::int32_t request) const;
  /// The same, were its windows these.
  [[nodiscard]] Insertion cheapest(std::int32_t request, const RequestWindows& windows) const;
  void insert(std::int32_t request, const Insertion& at);
  void remove(std::int32_t request);

 private:
  struct Route;  // to be filled in
  const Instance* instance_ = nullptr;
  Plan plan_;
  Cost cost_ = 0;
};

}  // namespace penstock::routing
