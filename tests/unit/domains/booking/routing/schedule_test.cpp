#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/roads.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking::schedule_test {
namespace {

/// Two or three rides of a few seconds: short enough to try every schedule by the second.
Instance short_rides(Random& random, std::int32_t requests) {
  Instance day;
  day.vehicles = 1;
  day.capacity = requests;
  day.max_ride = static_cast<Seconds>(2 + random.below(5));
  const auto count = static_cast<std::size_t>(1 + 2 * requests);
  day.nodes.resize(count);
  day.nodes[0].window = {0, static_cast<Seconds>(12 + random.below(8))};
  for (std::size_t i = 1; i < count; ++i) {
    const auto earliest = static_cast<Seconds>(random.below(8));
    const auto width = static_cast<Seconds>(1 + random.below(7));
    const auto service = static_cast<Seconds>(random.below(2));
    day.nodes[i] = {{earliest, earliest + width}, service, i % 2 == 1 ? 1 : -1};
  }
  for (std::size_t i = 0; i < count * count; ++i) {
    const auto way = i % (count + 1) == 0 ? 0 : static_cast<std::int32_t>(random.below(3));
    day.distance.push_back(way);
    day.duration.push_back(way);
  }
  return day;
}

/// Whether starts of all stops exist that keep windows, ways and rides; every second is tried.
bool schedule_exists(const Instance& day, const std::vector<std::int32_t>& route) {
  std::vector<Seconds> start(day.num_nodes(), 0);
  const std::function<bool(std::size_t, Seconds, std::int32_t)> place =
      [&](std::size_t i, Seconds free, std::int32_t here) {
        if (i == route.size()) {
          return free + day.duration_of(here, 0) <= day.nodes[0].window.latest;
        }
        const std::int32_t node = route[i];
        const auto at = static_cast<std::size_t>(node);
        const Node& stop = day.nodes[at];
        const Seconds first = std::max(stop.window.earliest, free + day.duration_of(here, node));
        for (Seconds t = first; t <= stop.window.latest; ++t) {
          if (node % 2 == 0 && t - start[at - 1] - day.nodes[at - 1].service > day.max_ride) {
            break;
          }
          start[at] = t;
          if (place(i + 1, t + stop.service, node)) { return true; }
        }
        return false;
      };
  return place(0, day.nodes[0].window.earliest, 0);
}

/// A random order in which each pickup is before its drop-off.
std::vector<std::int32_t> some_route(Random& random, std::int32_t requests) {
  std::vector<std::int32_t> route;
  for (std::int32_t r = 0; r < requests; ++r) {
    const auto size = static_cast<std::uint32_t>(route.size());
    const auto up = static_cast<std::ptrdiff_t>(random.below(size + 1));
    route.insert(route.begin() + up, 1 + 2 * r);
    const auto down =
        up + 1 +
        static_cast<std::ptrdiff_t>(random.below(size + 1 - static_cast<std::uint32_t>(up)));
    route.insert(route.begin() + down, 2 + 2 * r);
  }
  return route;
}

}  // namespace

TEST_CASE("a plan of rides is refused just when no schedule by the second keeps it") {
  Random random(21);
  std::array<int, 2> verdicts = {0, 0};
  int only_rides = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    CAPTURE(trial);
    const std::int32_t requests = 2 + trial % 2;
    Instance day = short_rides(random, requests);
    const std::vector<std::int32_t> route = some_route(random, requests);
    const std::array<std::int32_t, 3> all = {0, 1, 2};
    const std::span<const std::int32_t> served(all.data(), static_cast<std::size_t>(requests));
    const bool possible = schedule_exists(day, route);
    const auto violation = find_violation(day, {{route}}, served);
    REQUIRE_MESSAGE(!violation == possible, violation.value_or("none"));
    ++verdicts[possible ? 1 : 0];
    if (possible) { continue; }
    day.max_ride = 0;
    only_rides += find_violation(day, {{route}}, served) ? 0 : 1;
  }
  CHECK(verdicts[0] > 200);
  CHECK(verdicts[1] > 200);
  CHECK(only_rides > 50);  // or the rides were not what was tested
}

TEST_CASE("the search agrees with every schedule by the second on where a ride may go") {
  Random random(22);
  int nowhere = 0;
  int somewhere = 0;
  for (int trial = 0; trial < 600; ++trial) {
    CAPTURE(trial);
    const Instance day = short_rides(random, 2);
    if (!schedule_exists(day, {1, 2})) { continue; }
    RouteSet routes;
    routes.load(day, {{{1, 2}}});
    Insertion best;
    for (std::int32_t i = 0; i <= 2; ++i) {
      for (std::int32_t j = i; j <= 2; ++j) {
        std::vector<std::int32_t> route = {1, 2};
        route.insert(route.begin() + j, 4);
        route.insert(route.begin() + i, 3);
        const Cost added = cost_of(day, {{route}}) - cost_of(day, {{{1, 2}}});
        if (added < best.added && schedule_exists(day, route)) { best = {added, 0, i, j}; }
      }
    }
    REQUIRE(routes.cheapest(1) == best);
    (best.fits() ? somewhere : nowhere) += 1;
  }
  CHECK(nowhere > 50);
  CHECK(somewhere > 50);
}

TEST_CASE("loads of deliveries add up over a whole route, those of rides while on board") {
  Instance day;
  day.mode = Mode::deliver;
  day.vehicles = 2;
  day.capacity = 5;
  day.nodes = {{{0, 99}, 0, 0}, {{0, 99}, 0, 2}, {{0, 99}, 0, 3}, {{0, 99}, 0, 1}};
  day.distance.assign(16, 1);
  day.duration.assign(16, 1);
  const std::array<std::int32_t, 3> all = {0, 1, 2};
  CHECK_FALSE(find_violation(day, {{{1, 2}, {3}}}, all));
  CHECK(find_violation(day, {{{1, 2, 3}}}, all).value_or("") ==
        "vehicle 0 carries 6 at node 3, more than 5");
  CHECK(find_violation(day, {{{3}, {2, 1}}}, all).value_or("") == "");

  Instance rides = day;
  rides.mode = Mode::ride;
  rides.nodes = {
      {{0, 99}, 0, 0}, {{0, 99}, 0, 4}, {{0, 99}, 0, -4}, {{0, 99}, 0, 5}, {{0, 99}, 0, -5}};
  rides.distance.assign(25, 1);
  rides.duration.assign(25, 1);
  const std::array<std::int32_t, 2> both = {0, 1};
  CHECK_FALSE(find_violation(rides, {{{1, 2, 3, 4}}}, both));
  CHECK(find_violation(rides, {{{1, 3, 2, 4}}}, both).value_or("") ==
        "vehicle 0 carries 9 at node 3, more than 5");
}

TEST_CASE("a plan for nobody is empty, whatever the depot's day") {
  Instance day;
  day.vehicles = 2;
  day.nodes = {{{50, 40}, 0, 0}, {{0, 99}, 0, 1}, {{0, 99}, 0, -1}};
  day.distance.assign(9, 7);
  day.duration.assign(9, 7);
  CHECK_FALSE(find_violation(day, {}, {}));
  CHECK_FALSE(find_violation(day, {{{}, {}}}, {}));
  CHECK(cost_of(day, {{{}, {}}}) == 0);  // not the way from the depot to itself
  CHECK(find_violation(day, {{{0}}}, {}).value_or("") ==
        "vehicle 0 visits node 0, which the instance does not have");
  CHECK(find_violation(day, {{{-1}}}, {}).value_or("").find("node -1, which") != std::string::npos);
}

TEST_CASE("roads have the circuity and the speed that they are given") {
  Instance day;
  day.nodes.resize(3);
  day.points = {{0, 0}, {300, 400}, {-1000, 0}};
  fill_matrices({.circuity = 1, .metres_per_second = 10}, day);
  CHECK(day.distance == std::vector<Metres>{0, 500, 1000, 500, 0, 1360, 1000, 1360, 0});
  CHECK(day.duration == std::vector<Seconds>{0, 50, 100, 50, 0, 136, 100, 136, 0});
  fill_matrices({.circuity = 2, .metres_per_second = 4}, day);
  CHECK(day.distance_of(0, 1) == 1000);
  CHECK(day.duration_of(0, 1) == 250);
  // A smaller day after a larger one: nothing of the old matrices is left.
  day.nodes.resize(1);
  day.points.resize(1);
  fill_matrices({}, day);
  CHECK(day.distance == std::vector<Metres>{0});
  CHECK(day.duration == std::vector<Seconds>{0});
}

}  // namespace penstock::booking::schedule_test
