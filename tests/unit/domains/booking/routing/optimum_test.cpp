#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "domains/booking/routing/string_removal.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/anneal.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/oracle.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::optimum_test {
namespace {

using test::DayOptions;
using test::random_day;

/// All plans of a small day without a longest ride, stop by stop and vehicle by vehicle: the least
/// cost, and the fewest vehicles with the least cost of these.
class Exhaustive {
 public:
  explicit Exhaustive(const Instance& day) : day_(day), done_(day.num_nodes(), false) {
    extend(0, day.nodes[0].window.earliest, 0, 0, 0, day.num_nodes() - 1);
  }

  [[nodiscard]] Cost cost() const {
    Cost least = Insertion::kNowhere;
    for (const auto& [vehicles, cost] : best_) { least = std::min(least, cost); }
    return least;
  }
  [[nodiscard]] bool feasible() const { return !best_.empty(); }
  [[nodiscard]] int fewest() const { return best_.begin()->first; }
  [[nodiscard]] Cost cost_of_fewest() const { return best_.begin()->second; }

 private:
  void extend(std::int32_t here, Seconds clock, std::int32_t load, int vehicles, Cost cost,
              std::size_t left) {
    if (left == 0) {
      if (clock + day_.duration_of(here, 0) > day_.nodes[0].window.latest) { return; }
      const auto [entry, fresh] = best_.emplace(vehicles, cost + day_.distance_of(here, 0));
      entry->second = std::min(entry->second, cost + day_.distance_of(here, 0));
      return;
    }
    const bool may_end = here != 0 && aboard_ == 0 && vehicles < day_.vehicles;
    if (may_end && clock + day_.duration_of(here, 0) <= day_.nodes[0].window.latest) {
      extend(0, day_.nodes[0].window.earliest, 0, vehicles, cost + day_.distance_of(here, 0), left);
    }
    for (std::int32_t node = 1; node < static_cast<std::int32_t>(day_.num_nodes()); ++node) {
      visit(node, here, clock, load, vehicles, cost, left);
    }
  }
  void visit(std::int32_t node, std::int32_t here, Seconds clock, std::int32_t load, int vehicles,
             Cost cost, std::size_t left) {
    const auto at = static_cast<std::size_t>(node);
    const bool ride = day_.mode == Mode::ride;
    const bool drop = ride && node % 2 == 0;
    if (done_[at] || (drop && from_[node] != vehicles + (here == 0 ? 1 : 0))) { return; }
    const Node& stop = day_.nodes[at];
    const Seconds start = std::max(clock + day_.duration_of(here, node), stop.window.earliest);
    if (start > stop.window.latest || load + stop.load > day_.capacity) { return; }
    const int vehicle = vehicles + (here == 0 ? 1 : 0);
    done_[at] = true;
    if (ride) { aboard_ += drop ? -1 : 1; }
    if (ride && !drop) { from_[node + 1] = vehicle; }
    extend(node, start + stop.service, load + stop.load, vehicle,
           cost + day_.distance_of(here, node), left - 1);
    if (ride && !drop) { from_.erase(node + 1); }
    if (ride) { aboard_ -= drop ? -1 : 1; }
    done_[at] = false;
  }

  const Instance& day_;
  std::vector<bool> done_;
  int aboard_ = 0;
  std::map<std::int32_t, int> from_;  // of a drop-off: the vehicle that has its passenger
  std::map<int, Cost> best_;          // by number of vehicles
};

std::vector<std::int32_t> everybody(const Instance& day) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(day.num_requests()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Narrow enough that no day takes long to try, wide enough that insertion errs.
const std::vector<DayOptions> kSmallDays = {
    {.mode = Mode::ride, .requests = 4, .vehicles = 3, .window = 14400},
    {.mode = Mode::deliver, .requests = 6, .vehicles = 3, .capacity = 6, .window = 21600},
    {.mode = Mode::deliver, .requests = 6, .vehicles = 2, .capacity = 9, .window = 7200, .skew = 1},
    {.mode = Mode::ride, .requests = 4, .vehicles = 2, .capacity = 2, .window = 10800, .tangle = 1},
};

}  // namespace

TEST_CASE("annealing finds the best of all plans of a small day") {
  int served = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    const Instance day = random_day(300 + seed, kSmallDays[seed % kSmallDays.size()]);
    const Exhaustive all(day);
    const Annealed found = anneal(day, {.seconds = 0, .iterations = 1500, .chains = 1});
    REQUIRE((found.unserved == 0) == all.feasible());
    if (!all.feasible()) { continue; }
    ++served;
    CHECK(found.cost == all.cost());
    CHECK(find_violation(day, found.plan, everybody(day)).value_or("") == "");
  }
  CHECK(served > 15);
}

TEST_CASE("vehicles first: no plan of a small day has fewer, nor so few for less") {
  int saved = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    CAPTURE(seed);
    const Instance day = random_day(500 + seed, kSmallDays[seed % kSmallDays.size()]);
    const Exhaustive all(day);
    if (!all.feasible()) { continue; }
    const Annealed found =
        anneal(day, {.seconds = 0, .iterations = 2000, .chains = 1, .vehicles_first = true});
    CHECK(found.vehicles == all.fewest());
    CHECK(found.cost == all.cost_of_fewest());
    saved += found.cost > all.cost() ? 1 : 0;
  }
  CHECK(saved > 0);  // or the two orders were not told apart
}

TEST_CASE("no oracle is below the optimum, and ruin and recreate mostly reaches it") {
  int days = 0;
  int best = 0;
  int above = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Instance day = random_day(700 + seed, kSmallDays[seed % kSmallDays.size()]);
    const Exhaustive all(day);
    for (const char* name : {"insertion", "rr-60"}) {
      const auto oracle = make_search_oracle(name);
      Plan plan;
      plan.routes.resize(static_cast<std::size_t>(day.vehicles));
      std::vector<std::int32_t> served;
      Cost cost = 0;
      for (std::int32_t r = 0; r < day.num_requests(); ++r) {
        RoutingProblem problem{
            .instance = &day, .served = served, .request = r, .seed = seed, .plan = &plan};
        oracle->solve({&problem, 1});
        cost = problem.cost;
        if (problem.fits) { served.push_back(r); }
      }
      if (served.size() < everybody(day).size()) { continue; }
      REQUIRE(all.feasible());
      REQUIRE(cost >= all.cost());
      const bool is_search = name[0] == 'r';
      days += is_search ? 1 : 0;
      best += is_search && cost == all.cost() ? 1 : 0;
      above += !is_search && cost > all.cost() ? 1 : 0;
    }
  }
  CHECK(days > 15);
  CHECK(best >= days - 2);
  CHECK(above > 5);
}

TEST_CASE("annealing keeps every promise whatever its seed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const bool ride = seed % 2 == 0;
    const Instance day = random_day(seed, {.mode = ride ? Mode::ride : Mode::deliver,
                                           .requests = 20,
                                           .vehicles = seed % 5 == 0 ? 2 : 8,
                                           .capacity = ride ? 3 : 9,
                                           .window = 2700,
                                           .max_ride = seed % 4 == 0 ? 1800 : 0,
                                           .skew = seed % 3 == 0 ? 0.4 : 0,
                                           .tangle = seed % 7 == 0 ? 0.5 : 0});
    const Annealed found = anneal(day, {.seconds = 0,
                                        .iterations = 150,
                                        .chains = 1,
                                        .seed = seed,
                                        .vehicles_first = seed % 6 == 1});
    std::vector<std::int32_t> served;
    std::int32_t used = 0;
    for (const auto& route : found.plan.routes) {
      used += route.empty() ? 0 : 1;
      for (const std::int32_t node : route) {
        if (day.first_node(day.request_of(node)) == node) {
          served.push_back(day.request_of(node));
        }
      }
    }
    REQUIRE(find_violation(day, found.plan, served).value_or("") == "");
    CHECK(found.cost == cost_of(day, found.plan));
    CHECK(found.vehicles == used);
    CHECK(static_cast<std::int32_t>(served.size()) + found.unserved == day.num_requests());
  }
}

TEST_CASE("strings take out as many requests on average as they are told to") {
  // Twenty routes of six stops. Strings of 1 to 4, 1 to 4 * 10 / (1 + 4) - 1 = 7 of them: 2.5 * 4.
  Instance day = random_day(1, {.mode = Mode::deliver, .requests = 120, .vehicles = 20});
  day.capacity = 1000;
  for (Node& node : day.nodes) { node.window = {0, 10'000'000}; }
  Plan plan;
  for (std::int32_t v = 0; v < 20; ++v) {
    auto& route = plan.routes.emplace_back();
    for (std::int32_t i = 0; i < 6; ++i) { route.push_back(1 + 6 * v + i); }
  }
  RouteSet routes;
  routes.load(day, plan);
  StringRemoval strings(day);
  Random random(9);
  std::vector<std::int32_t> removed;
  double sum = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    strings.pick(routes, {.longest = 4, .mean_removed = 10}, random, removed);
    sum += static_cast<double>(removed.size());
    std::map<std::int32_t, int> per_route;
    for (const std::int32_t request : removed) { ++per_route[routes.vehicle_of(request)]; }
    REQUIRE(per_route.size() <= 7);
    for (const auto& [vehicle, count] : per_route) { REQUIRE(count <= 4); }
    std::ranges::sort(removed);
    REQUIRE(std::ranges::adjacent_find(removed) == removed.end());
  }
  // The deviation of a round is about 5.7, of the mean of 4000 about 0.09.
  CHECK(sum / kRounds == doctest::Approx(10).epsilon(0.03));
}

TEST_CASE("strings are stops beside each other, with one gap at most") {
  Instance day = random_day(2, {.mode = Mode::deliver, .requests = 40, .vehicles = 2});
  day.capacity = 1000;
  for (Node& node : day.nodes) { node.window = {0, 10'000'000}; }
  Plan plan;
  plan.routes.resize(2);
  for (std::int32_t node = 1; node <= 40; ++node) {
    plan.routes[node <= 30 ? 0 : 1].push_back(node);
  }
  RouteSet routes;
  routes.load(day, plan);
  StringRemoval strings(day);
  Random random(4);
  std::vector<std::int32_t> removed;
  int split = 0;
  for (int round = 0; round < 500; ++round) {
    strings.pick(routes, {.longest = 8, .mean_removed = 8}, random, removed);
    std::ranges::sort(removed);
    std::map<std::int32_t, int> gaps;
    for (std::size_t i = 1; i < removed.size(); ++i) {
      const std::int32_t vehicle = routes.vehicle_of(removed[i]);
      if (vehicle != routes.vehicle_of(removed[i - 1])) { continue; }
      gaps[vehicle] += removed[i] > removed[i - 1] + 1 ? 1 : 0;
    }
    for (const auto& [vehicle, count] : gaps) {
      REQUIRE(count <= 1);
      split += count;
    }
  }
  CHECK(split > 50);  // half of the strings of two and more are split
}

TEST_CASE("nothing is taken out of empty routes, nor who is not served") {
  const Instance day = random_day(3, {.mode = Mode::ride, .requests = 12, .vehicles = 3});
  RouteSet routes;
  routes.clear(day);
  StringRemoval strings(day);
  Random random(1);
  std::vector<std::int32_t> removed = {7};
  strings.pick(routes, {}, random, removed);
  CHECK(removed.empty());
  routes.insert(5, routes.cheapest(5));
  for (int round = 0; round < 50; ++round) {
    strings.pick(routes, {}, random, removed);
    CHECK(removed == std::vector<std::int32_t>{5});
  }
}

}  // namespace penstock::booking::optimum_test
