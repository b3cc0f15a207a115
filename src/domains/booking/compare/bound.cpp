#include "penstock/domains/booking/compare/bound.h"

#include <algorithm>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/offers.h"

namespace penstock::booking {
namespace {

constexpr std::int32_t kWidest = 3;  // the offer of 30 minutes on both sides
constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;

void widen_all(Instance& day) {
  for (std::int32_t r = 0; r < day.num_requests(); ++r) {
    const RequestWindows wide = offered_windows(day, r, OfferKind::widen, kWidest);
    const std::size_t first = day.first_node(r);
    day.nodes[first].window = wide[0];
    if (day.mode == Mode::ride) { day.nodes[first + 1].window = wide[1]; }
  }
}

/// Plans a day request by request.
struct Planned {
  Cost cost = 0;
  std::vector<std::int32_t> served;
};
Planned plan_day(const Instance& day, std::uint64_t seed, RoutingOracle& oracle) {
  Planned planned;
  Plan plan;
  plan.routes.resize(day.vehicles);
  for (std::int32_t r = 0; r < day.num_requests(); ++r) {
    RoutingProblem problem{.instance = &day,
                           .served = planned.served,
                           .request = r,
                           .seed = seed + kOdd * (r + 1),
                           .plan = &plan};
    oracle.solve({&problem, 1});
    if (!problem.fits) { continue; }
    planned.cost = problem.cost;
    planned.served.push_back(r);
  }
  return planned;
}

void improve_by_reference(std::vector<PromisedDay>& days, const ReferenceOptions& options,
                          Bound& bound) {
  if (days.empty()) { return; }
  const auto costs = solve_by_pyvrp(days, options);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i]) { continue; }
    ++bound.reference_days;
    bound.costs[i] = std::min(bound.costs[i], *costs[i]);
  }
}

}  // namespace

Bound bound_of(const EvaluationSetup& setup, ThreadPool& pool, const EvaluationOptions& options) {
  const auto days = static_cast<std::size_t>(options.days);
  Bound bound{.costs = std::vector<Cost>(days), .unserved = std::vector<std::int32_t>(days)};
  std::vector<PromisedDay> promised(std::min(options.reference_days, options.days));
  const std::size_t workers = std::min(options.workers, days);
  pool.run(workers, [&](std::size_t worker) {
    const auto generator = setup.make_generator();
    const auto oracle = make_search_oracle("rr-1000");
    Instance day;
    for (std::size_t i = worker; i < days; i += workers) {
      const std::uint64_t seed = episode_seed(options.seed, 0, i);
      generator->make(seed, day);
      widen_all(day);
      Planned planned = plan_day(day, seed, *oracle);
      bound.costs[i] = planned.cost;
      bound.unserved[i] = day.num_requests() - std::ssize(planned.served);
      if (i < promised.size()) {
        promised[i] = {.instance = day, .served = std::move(planned.served)};
      }
    }
  });
  improve_by_reference(promised, options.reference, bound);
  return bound;
}

}  // namespace penstock::booking
