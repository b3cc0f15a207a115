#include "penstock/domains/booking/routing/route_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "domains/booking/routing/insertion.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::route_set_test {
namespace {

using test::DayOptions;
using test::random_day;

/// Deliveries along a street, a metre a second, with services of 5 s; the day is 100 s long.
Instance metre_street(const std::vector<int>& places, const std::vector<Window>& windows) {
  Instance day;
  day.mode = Mode::deliver;
  day.vehicles = 3;
  day.capacity = 10;
  day.nodes.push_back({{0, 100}, 0, 0});
  for (const Window& window : windows) { day.nodes.push_back({window, 5, 1}); }
  std::vector<int> all = {0};
  all.insert(all.end(), places.begin(), places.end());
  for (const int a : all) {
    for (const int b : all) {
      day.distance.push_back(std::abs(a - b));
      day.duration.push_back(std::abs(a - b));
    }
  }
  return day;
}

Plan plan_in(const RouteSet& routes) {
  Plan plan;
  routes.store(plan);
  return plan;
}

/// As many requests as fit, each where it is cheapest.
std::vector<std::int32_t> fill(RouteSet& routes, const Instance& day) {
  std::vector<std::int32_t> served;
  routes.clear(day);
  for (std::int32_t r = 0; r < day.num_requests(); ++r) {
    const Insertion at = routes.cheapest(r);
    if (!at.fits()) { continue; }
    routes.insert(r, at);
    served.push_back(r);
  }
  return served;
}

const std::vector<DayOptions> kSetDays = {
    {.mode = Mode::ride, .requests = 16, .vehicles = 4, .window = 3600},
    {.mode = Mode::deliver, .requests = 24, .vehicles = 4, .capacity = 12},
    {.mode = Mode::ride, .requests = 16, .vehicles = 5, .window = 5400, .max_ride = 1500},
};

}  // namespace

TEST_CASE("a stop knows when it is left, and how late it may start") {
  const Instance day = metre_street({10, 30, 20}, {{15, 40}, {0, 60}, {0, 90}});
  RouteSet routes;
  routes.load(day, {{{}, {1, 2, 3}}});
  const std::span<const Stop> stops = routes.stops(1);
  REQUIRE(stops.size() == 5);
  // 10 s to the first, which opens at 15; then 20, 10 and 20 s of driving.
  CHECK(stops[1].leave == 20);
  CHECK(stops[2].leave == 45);
  CHECK(stops[3].leave == 60);
  CHECK(stops[4].leave == 80);
  // Back from 100: 20 s of way and 5 of service; 60 is the window's own; 60 - 20 - 5; 35 - 5 - ...
  CHECK(stops[3].latest == 75);
  CHECK(stops[2].latest == 60);
  CHECK(stops[1].latest == 35);
  CHECK(stops[2].load == 2);
  CHECK(routes.cost() == 10 + 20 + 10 + 20);
  CHECK(routes.vehicle_of(1) == 1);
  CHECK(routes.is_empty(0));
  CHECK(routes.is_empty(2));
}

TEST_CASE("places that add the same are taken in order of vehicle, then position") {
  // Two vehicles drive the same way out and back: a stop on it adds nothing anywhere.
  const Instance day = metre_street({20, 20, 10}, {{0, 90}, {0, 90}, {0, 90}});
  RouteSet routes;
  routes.load(day, {{{}, {1}, {2}}});
  CHECK(routes.cheapest(2) == Insertion{.added = 0, .vehicle = 1, .first = 0, .second = 0});
  // An empty vehicle comes first in number, but costs the whole way.
  const Instance apart = metre_street({20, 20, -10}, {{0, 90}, {0, 90}, {0, 90}});
  routes.load(apart, {{{}, {1}, {2}}});
  CHECK(routes.cheapest(2) == Insertion{.added = 20, .vehicle = 0, .first = 0, .second = 0});
}

TEST_CASE("a bound on what an insertion adds is sharp") {
  for (const DayOptions& options : kSetDays) {
    const Instance day = random_day(8, options);
    RouteSet routes;
    routes.clear(day);
    for (std::int32_t r = 0; r < day.num_requests(); ++r) {
      const Insertion free = routes.cheapest(r);
      if (!free.fits()) { continue; }
      REQUIRE_FALSE(routes.cheapest_below(r, free.added).fits());
      REQUIRE(routes.cheapest_below(r, free.added + 1) == free);
      routes.insert(r, free);
    }
  }
}

TEST_CASE("places that are passed over are not taken") {
  const Instance day = random_day(2, kSetDays[0]);
  RouteSet routes;
  routes.clear(day);
  for (std::int32_t r = 0; r < 8; ++r) { routes.insert(r, routes.cheapest(r)); }
  const auto all = [] { return true; };
  CHECK_FALSE(routes.cheapest(8, routes.windows_of(8), all).fits());
  int asked = 0;
  const auto all_but_the_first = [&] { return asked++ > 0; };
  const Insertion first = routes.cheapest(8, routes.windows_of(8), all_but_the_first);
  CHECK(first.fits());
  CHECK(first.added >= routes.cheapest(8).added);
}

TEST_CASE("rolling back undoes any series of changes") {
  for (std::size_t kind = 0; kind < kSetDays.size(); ++kind) {
    CAPTURE(kind);
    const Instance day = random_day(11 + kind, kSetDays[kind]);
    RouteSet routes;
    const std::vector<std::int32_t> served = fill(routes, day);
    REQUIRE(served.size() > 8);
    Random random(kind);
    for (int trial = 0; trial < 50; ++trial) {
      const Plan before = plan_in(routes);
      const Cost cost = routes.cost();
      routes.mark();
      const auto count = 1 + random.below(6);
      std::vector<std::int32_t> out;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::int32_t request =
            served[random.below(static_cast<std::uint32_t>(served.size()))];
        if (routes.vehicle_of(request) < 0) { continue; }
        routes.remove(request);
        out.push_back(request);
      }
      std::ranges::reverse(out);
      for (const std::int32_t request : out) {
        const Insertion at = routes.cheapest(request);
        if (at.fits() && random.below(3) > 0) { routes.insert(request, at); }
      }
      routes.rollback();
      REQUIRE(plan_in(routes) == before);
      REQUIRE(routes.cost() == cost);
      for (const std::int32_t request : served) { REQUIRE(routes.vehicle_of(request) >= 0); }
      CHECK(routes.changed().empty());
      // The next trial starts from another plan: one request moves for good.
      const std::int32_t mover = served[random.below(static_cast<std::uint32_t>(served.size()))];
      routes.mark();
      routes.remove(mover);
      routes.insert(mover, routes.cheapest(mover));
      REQUIRE(routes.cost() == cost_of(day, plan_in(routes)));
      REQUIRE(find_violation(day, plan_in(routes), served).value_or("") == "");
    }
  }
}

TEST_CASE("many are taken out at once as they are one by one") {
  for (std::size_t kind = 0; kind < kSetDays.size(); ++kind) {
    const Instance day = random_day(20 + kind, kSetDays[kind]);
    RouteSet at_once;
    RouteSet one_by_one;
    const std::vector<std::int32_t> served = fill(at_once, day);
    fill(one_by_one, day);
    Random random(5);
    std::vector<std::int32_t> some;
    for (const std::int32_t request : served) {
      if (random.below(2) == 0) { some.push_back(request); }
    }
    at_once.remove_all(some);
    for (const std::int32_t request : some) { one_by_one.remove(request); }
    CHECK(plan_in(at_once) == plan_in(one_by_one));
    CHECK(at_once.cost() == one_by_one.cost());
    CHECK(at_once.cost() == cost_of(day, plan_in(at_once)));
    for (std::int32_t v = 0; v < day.vehicles; ++v) {
      const std::span<const Stop> a = at_once.stops(v);
      const std::span<const Stop> b = one_by_one.stops(v);
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(a[i].leave == b[i].leave);
        CHECK(a[i].latest == b[i].latest);
        CHECK(a[i].load == b[i].load);
      }
    }
    // The rest, until nobody is served: an empty fleet costs nothing.
    std::vector<std::int32_t> rest;
    for (const std::int32_t request : served) {
      if (at_once.vehicle_of(request) >= 0) { rest.push_back(request); }
    }
    at_once.remove_all(rest);
    CHECK(at_once.cost() == 0);
  }
}

TEST_CASE("a request goes back where it was") {
  for (const DayOptions& options : kSetDays) {
    const Instance day = random_day(4, options);
    RouteSet routes;
    const std::vector<std::int32_t> served = fill(routes, day);
    const Plan before = plan_in(routes);
    const Cost cost = routes.cost();
    for (const std::int32_t request : served) {
      const Insertion was = routes.remove(request);
      REQUIRE(routes.vehicle_of(request) == -1);
      REQUIRE(routes.cost() == cost - was.added);
      routes.insert(request, was);
      REQUIRE(plan_in(routes) == before);
      REQUIRE(routes.cost() == cost);
    }
  }
}

TEST_CASE("a vehicle that is sent home leaves its number to the last") {
  const Instance day = metre_street({10, 20, 5}, {{0, 90}, {0, 90}, {0, 90}});
  RouteSet routes;
  routes.load(day, {{{1}, {}, {2, 3}}});
  routes.drop_vehicle(1);
  CHECK(routes.num_vehicles() == 2);
  CHECK(plan_in(routes) == Plan{{{1}, {2, 3}}});
  CHECK(routes.vehicle_of(1) == 1);
  CHECK(routes.vehicle_of(2) == 1);
  CHECK(routes.cost() == 20 + 40);
  // What was dropped is not offered: a fleet of two with full days has no third vehicle.
  RouteSet full;
  Instance late = metre_street({40, 40, 40}, {{40, 41}, {40, 41}, {40, 41}});
  full.load(late, {{{1}, {}, {2}}});
  CHECK(full.cheapest(2).vehicle == 1);
  full.drop_vehicle(1);
  CHECK_FALSE(full.cheapest(2).fits());
}

TEST_CASE("without the triangle inequality a removal may make a route late, and is told") {
  std::size_t late = 0;
  std::size_t fine = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Instance day = random_day(seed, {.mode = seed % 2 == 0 ? Mode::ride : Mode::deliver,
                                           .requests = 18,
                                           .vehicles = 3,
                                           .capacity = 20,
                                           .window = 2400,
                                           .max_ride = seed % 4 == 0 ? 1800 : 0,
                                           .tangle = 2});
    RouteSet routes;
    std::vector<std::int32_t> served = fill(routes, day);
    for (const std::int32_t request : served) {
      const std::int32_t vehicle = routes.vehicle_of(request);
      const Insertion was = routes.remove(request);
      std::vector<std::int32_t> rest = served;
      std::erase(rest, request);
      const bool kept = !find_violation(day, plan_in(routes), rest);
      REQUIRE(routes.is_feasible(vehicle) == kept);
      (kept ? fine : late) += 1;
      routes.insert(request, was);
    }
  }
  CHECK(late > 5);
  CHECK(fine > 100);
}

TEST_CASE("memory of a larger day does not show in a smaller one") {
  RouteSet routes;
  fill(routes, random_day(1, {.mode = Mode::deliver, .requests = 60, .vehicles = 9}));
  const Instance small = random_day(2, kSetDays[0]);
  const std::vector<std::int32_t> served = fill(routes, small);
  RouteSet fresh;
  CHECK(fill(fresh, small) == served);
  CHECK(plan_in(fresh) == plan_in(routes));
  CHECK(plan_in(routes).routes.size() == 4);
}

}  // namespace penstock::booking::route_set_test
