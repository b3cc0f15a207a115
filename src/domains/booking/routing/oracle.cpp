#include "penstock/domains/booking/routing/oracle.h"

#include <fmt/core.h>

#include <charconv>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/route_set.h"
#include "penstock/domains/booking/routing/search.h"

namespace penstock::booking {
namespace {

class InsertionOracle final : public RoutingOracle {
 public:
  void solve(std::span<RoutingProblem> batch) override {
    for (RoutingProblem& problem : batch) { solve(problem); }
  }

 private:
  void solve(RoutingProblem& problem) {
    Plan& plan = *problem.plan;
    plan.routes.resize(problem.instance->vehicles);
    routes_.load(*problem.instance, plan);
    problem.fits = true;
    problem.cost = routes_.cost();
    if (problem.request == RoutingProblem::kNoRequest) { return; }
    const Insertion place = routes_.cheapest(problem.request);
    problem.fits = place.fits();
    if (!problem.fits) { return; }
    problem.cost += place.added;
    const std::int32_t node = problem.instance->first_node(problem.request);
    auto& route = plan.routes[place.vehicle];
    if (problem.instance->mode == Mode::ride) {
      route.insert(route.begin() + place.second, node + 1);
    }
    route.insert(route.begin() + place.first, node);
  }

  RouteSet routes_;
};

/// Insertion, then moves of single requests, then rounds of ruin and recreate.
class SearchOracle final : public RoutingOracle {
 public:
  explicit SearchOracle(std::int32_t rounds) : rounds_(rounds) {}

  void solve(std::span<RoutingProblem> batch) override {
    for (RoutingProblem& problem : batch) { solve(problem); }
  }

 private:
  static constexpr std::int32_t kMaxSqueezes = 100;

  void solve(RoutingProblem& problem) {
    Random random(problem.seed);
    routes_.load(*problem.instance, *problem.plan);
    problem.fits = add(problem, random);
    if (problem.fits) {
      requests_.assign(problem.served.begin(), problem.served.end());
      if (problem.request != RoutingProblem::kNoRequest) { requests_.push_back(problem.request); }
      relocate(routes_, requests_);
      search_.improve(routes_, requests_, rounds_, random);
      routes_.store(*problem.plan);
    }
    problem.cost = routes_.cost();
  }

  bool add(const RoutingProblem& problem, Random& random) {
    if (problem.request == RoutingProblem::kNoRequest) { return true; }
    const Insertion place = routes_.cheapest(problem.request);
    if (place.fits()) {
      routes_.insert(problem.request, place);
      return true;
    }
    const std::int32_t tries = std::min(rounds_, kMaxSqueezes);
    return search_.squeeze_in(routes_, problem.served, problem.request, tries, random);
  }

  std::int32_t rounds_;
  RouteSet routes_;
  RuinRecreate search_;
  std::vector<std::int32_t> requests_;
};

/// N of "rr-N", or -1.
std::int32_t rounds_of(std::string_view name) {
  constexpr std::string_view kPrefix = "rr-";
  if (!name.starts_with(kPrefix)) { return -1; }
  std::int32_t rounds = -1;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, rounds);
  return error == std::errc() && stop == end && rounds > 0 ? rounds : -1;
}

}  // namespace

std::unique_ptr<RoutingOracle> make_search_oracle(std::string_view name) {
  if (name == "insertion") { return std::make_unique<InsertionOracle>(); }
  if (name == "relocate") { return std::make_unique<SearchOracle>(0); }
  if (const std::int32_t rounds = rounds_of(name); rounds > 0) {
    return std::make_unique<SearchOracle>(rounds);
  }
  throw UsageError(
      fmt::format("oracle '{}': expected insertion, relocate or rr-N, as in rr-50", name));
}

}  // namespace penstock::booking
