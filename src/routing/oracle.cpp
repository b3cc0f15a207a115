#include "penstock/routing/oracle.h"

#include <fmt/core.h>

#include "penstock/base/errors.h"
#include "penstock/routing/route_set.h"

namespace penstock::routing {
namespace {

class InsertionOracle final : public RoutingOracle {
 public:
  void solve(std::span<RoutingProblem> batch) override {
    for (RoutingProblem& problem : batch) { solve(problem); }
  }

 private:
  void solve(RoutingProblem& problem) {
    Plan& plan = *problem.plan;
    plan.routes.resize(static_cast<std::size_t>(problem.instance->vehicles));
    routes_.load(*problem.instance, plan);
    const Insertion place = routes_.cheapest(problem.request);
    problem.fits = place.fits();
    problem.cost = routes_.cost();
    if (!problem.fits) { return; }
    problem.cost += place.added;
    const std::int32_t node = problem.instance->first_node(problem.request);
    auto& route = plan.routes[static_cast<std::size_t>(place.vehicle)];
    if (problem.instance->mode == Mode::ride) {
      route.insert(route.begin() + place.second, node + 1);
    }
    route.insert(route.begin() + place.first, node);
  }

  RouteSet routes_;
};

}  // namespace

std::unique_ptr<RoutingOracle> make_search_oracle(std::string_view name) {
  if (name == "insertion") { return std::make_unique<InsertionOracle>(); }
  throw UsageError(fmt::format("oracle '{}': insertion, relocate or rr-N, as in rr-50", name));
}

}  // namespace penstock::routing
