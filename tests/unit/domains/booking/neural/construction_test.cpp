#include "penstock/domains/booking/neural/construction.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

/// Places on a line, 100 s and 1 km apart; the depot is at 0. No service times.
Instance line_day(std::vector<int> places, std::vector<Window> windows) {
  Instance day;
  day.mode = Mode::ride;
  day.vehicles = 2;
  day.capacity = 2;
  places.insert(places.begin(), 0);
  windows.insert(windows.begin(), Window{0, 10'000});
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool pickup = i % 2 == 1;
    day.nodes.push_back({windows[i], 0, i == 0 ? 0 : pickup ? 1 : -1});
    for (const int other : places) {
      day.duration.push_back(100 * std::abs(places[i] - other));
      day.distance.push_back(1000 * std::abs(places[i] - other));
    }
  }
  return day;
}

std::vector<std::int32_t> allowed(const Construction& plan) {
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < plan.allowed().size(); ++i) {
    if (plan.allowed()[i] != 0) { tokens.push_back(static_cast<std::int32_t>(i)); }
  }
  return tokens;
}

using Tokens = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("nobody on board is stranded by a detour") {
  // Ride 0 goes from 1 to 4 and must be there by 450; ride 1 waits at -1, ride 2 at 2, on the way.
  const Instance day = line_day({1, 4, -1, 0, 2, 3},
                                {{0, 200}, {0, 450}, {0, 5000}, {0, 5000}, {0, 5000}, {0, 5000}});
  Task task;
  task.load(day, all_requests(day));
  Construction plan;
  plan.begin(task);
  CHECK(allowed(plan) == Tokens{1, 3, 5});  // pickups; not home, as nothing is served
  plan.take(1);
  // To -1 first would make the drop-off 200 + 500 s later; 2 lies on the way.
  CHECK(allowed(plan) == Tokens{2, 5});
  plan.take(5);
  CHECK(allowed(plan) == Tokens{2, 6});  // full: no pickup, and not home with passengers
  plan.take(6);
  CHECK(allowed(plan) == Tokens{2});
  plan.take(2);
  CHECK(allowed(plan) == Tokens{0, 3});
  plan.take(0);
  CHECK(allowed(plan) == Tokens{3});  // the second and last vehicle
  plan.take(3);
  plan.take(4);
  CHECK(plan.done());
  Plan routes;
  plan.store(routes);
  CHECK(routes.routes == std::vector<std::vector<std::int32_t>>{{1, 5, 6, 2}, {3, 4}});
  CHECK_FALSE(find_violation(day, routes, all_requests(day)));
}

TEST_CASE("two on board need an order that is in time for both") {
  // Both drop-offs are in reach from 3, but from -2, reached last, 2 must come before -4.
  const Instance day = line_day({0, 2, 0, -4}, {{0, 100}, {0, 300}, {0, 100}, {0, 900}});
  Task task;
  task.load(day, all_requests(day));
  Construction plan;
  plan.begin(task);
  plan.take(1);
  CHECK(allowed(plan) == Tokens{2, 3});
  plan.take(3);
  CHECK(allowed(plan) == Tokens{2});  // to -4 first is 400, and 2 then 1000
}

TEST_CASE("the longest ride is a deadline") {
  Instance day = line_day({1, 2, 3, 4}, {{0, 1000}, {0, 5000}, {0, 5000}, {0, 5000}});
  day.max_ride = 250;
  Task task;
  task.load(day, all_requests(day));
  Construction plan;
  plan.begin(task);
  plan.take(1);
  CHECK(allowed(plan) == Tokens{2});  // by way of 3 the ride would take 300 s
  day.max_ride = 300;
  plan.begin(task);
  plan.take(1);
  CHECK(allowed(plan) == Tokens{2, 3});
}

TEST_CASE("loads of deliveries and the way home") {
  Instance day =
      random_day(3, {.mode = Mode::deliver, .requests = 6, .vehicles = 1, .capacity = 3});
  for (Node& node : day.nodes) { node.load = node.load > 0 ? 2 : 0; }
  Task task;
  task.load(day, all_requests(day));
  Construction plan;
  plan.begin(task);
  plan.take(allowed(plan).front());
  CHECK(plan.stuck());  // no room for another, and no other vehicle
}

TEST_CASE("whatever is allowed, the checker passes") {
  Random random(5);
  Construction plan;
  Task task;
  Plan routes;
  std::size_t finished = 0;
  std::size_t stranded = 0;
  for (const Instance& day : mixed_days(120)) {
    task.load(day, all_requests(day));
    plan.begin(task);
    while (!plan.done() && !plan.stuck()) {
      const std::vector<std::int32_t> choices = allowed(plan);
      plan.take(choices[random.below(static_cast<std::uint32_t>(choices.size()))]);
    }
    plan.store(routes);
    std::vector<std::int32_t> served;
    for (const auto& route : routes.routes) {
      for (const std::int32_t node : route) {
        const std::int32_t request = day.request_of(node);
        if (day.first_node(request) == node) { served.push_back(request); }
      }
    }
    const auto violation = find_violation(day, routes, served);
    CHECK_MESSAGE(!violation, violation.value_or(""));
    finished += plan.done() ? 1 : 0;
    stranded += violation ? 1 : 0;
  }
  CHECK(stranded == 0);
  CHECK(finished > 20);  // at random, few days are served by few vehicles
}
