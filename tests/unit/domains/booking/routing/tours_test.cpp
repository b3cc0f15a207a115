#include "penstock/domains/booking/routing/tours.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::tours_test {
namespace {

using test::DayOptions;
using test::random_day;

/// Every place tried by building the plan and asking the checker.
Insertion cheapest_by_checker(const Instance& day, const Plan& plan,
                              std::vector<std::int32_t> served, std::int32_t request) {
  served.push_back(request);
  const Cost before = cost_of(day, plan);
  const bool ride = day.mode == Mode::ride;
  Insertion best;
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    const auto length = static_cast<std::int32_t>(plan.routes[v].size());
    for (std::int32_t i = 0; i <= length; ++i) {
      for (std::int32_t j = i; j <= (ride ? length : i); ++j) {
        Plan with = plan;
        auto& route = with.routes[v];
        if (ride) { route.insert(route.begin() + j, day.first_node(request) + 1); }
        route.insert(route.begin() + i, day.first_node(request));
        const Cost added = cost_of(day, with) - before;
        if (added < best.added && !find_violation(day, with, served)) {
          best = {added, static_cast<std::int32_t>(v), i, j};
        }
      }
    }
  }
  return best;
}

const std::vector<DayOptions> kDays = {
    {.mode = Mode::ride},
    {.mode = Mode::deliver, .capacity = 12},
    {.mode = Mode::ride, .window = 3600, .max_ride = 1200},
    {.mode = Mode::ride, .vehicles = 3, .capacity = 2, .window = 5400, .skew = 0.3},
    {.mode = Mode::deliver, .vehicles = 2, .capacity = 30, .window = 7200, .skew = 0.3},
    {.mode = Mode::ride, .window = 5400, .max_ride = 1500, .skew = 0.2, .tangle = 0.5},
};

}  // namespace

TEST_CASE("the cheapest place is the one that trying all places finds") {
  for (std::size_t kind = 0; kind < kDays.size(); ++kind) {
    CAPTURE(kind);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Instance day = random_day(seed, kDays[kind]);
      Tours tours;
      tours.clear(day);
      std::vector<std::int32_t> served;
      for (std::int32_t r = 0; r < day.num_requests(); ++r) {
        const Insertion expected = cheapest_by_checker(day, tours.plan(), served, r);
        const Insertion found = tours.cheapest(r);
        REQUIRE(found.added == expected.added);
        if (!found.fits()) { continue; }
        REQUIRE(found == expected);
        tours.insert(r, found);
        served.push_back(r);
        REQUIRE(find_violation(day, tours.plan(), served).value_or("") == "");
        REQUIRE(tours.cost() == cost_of(day, tours.plan()));
      }
      CHECK(served.size() > 10);
    }
  }
}

TEST_CASE("what is taken out leaves the tours as if it had never been in") {
  for (const DayOptions& options : kDays) {
    const Instance day = random_day(3, options);
    Tours tours;
    tours.clear(day);
    for (std::int32_t r = 0; r + 1 < day.num_requests(); ++r) {
      if (const Insertion at = tours.cheapest(r); at.fits()) { tours.insert(r, at); }
    }
    const Plan before = tours.plan();
    const Cost cost = tours.cost();
    const std::int32_t last = day.num_requests() - 1;
    const Insertion place = tours.cheapest(last);
    if (!place.fits()) { continue; }
    tours.insert(last, place);
    CHECK(tours.plan() != before);
    tours.remove(last);
    CHECK(tours.plan() == before);
    CHECK(tours.cost() == cost);
    CHECK(tours.cheapest(last) == place);

    Tours again;
    again.load(day, before);
    CHECK(again.cost() == cost);
    CHECK(again.cheapest(last) == place);
  }
}

TEST_CASE("a place is priced for windows other than the instance's") {
  Instance day = random_day(5, {});
  Tours tours;
  tours.clear(day);
  for (std::int32_t r = 0; r < 20; ++r) { tours.insert(r, tours.cheapest(r)); }
  const std::size_t node = static_cast<std::size_t>(day.first_node(20));
  const RequestWindows wide = {Window{0, 86400}, Window{0, 86400}};
  const Insertion offered = tours.cheapest(20, wide);
  CHECK(offered.added <= tours.cheapest(20).added);
  day.nodes[node].window = wide[0];
  day.nodes[node + 1].window = wide[1];
  CHECK(tours.cheapest(20) == offered);
}

}  // namespace penstock::booking::tours_test
