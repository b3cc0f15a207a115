#include "penstock/domains/booking/dispatch/solve.h"

#include <algorithm>
#include <utility>

#include "domains/booking/dispatch/scratch.h"
#include "domains/booking/dispatch/search.h"
#include "domains/booking/dispatch/uniform.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/routing/anneal.h"

namespace penstock::booking::dispatch {
namespace {

// Temperatures at begin and end, in mean cost of a stop.
constexpr double kHot = 5;
constexpr double kCold = 0.05;
constexpr double kWarm = 0.5;              // of a plan that is good already
constexpr double kUniformShare = 0.9;      // of the budget, for the faster search
constexpr std::int64_t kMany = 1'000'000;  // rounds

/// Whether computing all ways at once is less work than computing them where they are asked for.
bool pays_off(const Problem& problem, std::int64_t iterations) {
  constexpr std::int64_t kPutBack = 10;  // tasks in a round
  const auto places = ordinal(problem.places.size());
  constexpr std::int32_t kMostPlaces = 6000;
  return places <= kMostPlaces && places <= iterations * kPutBack;
}

}  // namespace

bool Schedule::improve(std::int64_t iterations, std::uint64_t seed) {
  if (iterations <= 0 || problem_.vehicles.empty() || problem_.tasks.empty()) { return false; }
  Search search(problem_, {.routes = routes_, .vehicle_of = vehicle_of_}, seed,
                pays_off(problem_, iterations));
  const Money before = cost();
  const std::size_t absent = unserved().size();
  search.construct();
  search.keep_to_served();
  Budget budget(0, iterations);
  search.anneal(budget, kWarm, kCold);
  routes_ = search.best().routes;
  vehicle_of_ = search.best().vehicle_of;
  for (const std::int32_t task : unserved()) { serve(task); }
  return cost() != before || unserved().size() != absent;
}

Schedule solve(Problem problem, const SolveConfig& config) {
  if (config.seconds <= 0 && config.iterations <= 0) {
    throw UsageError("a search without an end: give seconds or iterations above 0");
  }
  Schedule plan(std::move(problem));
  plan.anneal(config);
  return plan;
}

void Schedule::anneal(const SolveConfig& config) {
  Budget budget(config.seconds, config.iterations);
  load_steps();
  if (problem_.tasks.empty()) { return; }
  const bool begun = anneal_uniform(config);
  if (begun) { budget.skip(static_cast<std::int64_t>(kUniformShare * config.iterations)); }
  Search search(problem_, {.routes = routes_, .vehicle_of = vehicle_of_}, config.seed,
                pays_off(problem_, kMany));
  search.construct();
  search.anneal(budget, begun ? kWarm : kHot, kCold);
  routes_ = search.best().routes;
  vehicle_of_ = search.best().vehicle_of;
}

/// Most of the budget, where the problem has no more rules than the faster search knows.
bool Schedule::anneal_uniform(const SolveConfig& config) {
  const auto same = as_uniform(problem_);
  if (!same) { return false; }
  const auto share = [](auto whole) { return static_cast<decltype(whole)>(kUniformShare * whole); };
  const auto iterations =
      config.iterations == 0 ? 0 : std::max(share(config.iterations), std::int64_t{1});
  const Annealed found = booking::anneal(same->instance, {.seconds = share(config.seconds),
                                                          .iterations = iterations,
                                                          .chains = 1,
                                                          .seed = config.seed});
  return !load(same->stops_of(found.plan));
}

/// What vehicles drive already, if it keeps all rules.
void Schedule::load_steps() {
  std::vector<std::vector<std::int32_t>> routes;
  for (const Vehicle& vehicle : problem_.vehicles) { routes.push_back(vehicle.steps); }
  static_cast<void>(load(routes));
}

}  // namespace penstock::booking::dispatch
