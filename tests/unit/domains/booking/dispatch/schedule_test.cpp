#include "penstock/domains/booking/dispatch/schedule.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "draw.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/files.h"

using namespace penstock;
using namespace penstock::booking::dispatch;

namespace {

std::string all_wrong(const Schedule& plan) {
  std::string text;
  for (const std::string& one : check(plan.problem(), told(plan))) { text += one + "\n"; }
  return text;
}

constexpr TimeWindow kSlots[] = {{0, 7200},    {7200, 14400}, {14400, 21600}, {21600, 28800},
                                 {3600, 5400}, {0, 36000},    {30000, 36000}, {90000, 99000}};

}  // namespace

TEST_CASE("what a quote says is what an insertion costs, and every plan passes the checker") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    Schedule plan(draw.fleet(4));
    int fitted = 0;
    for (int t = 0; t < 25; ++t) {
      const Request request = draw.request(t);
      const Money before = plan.cost();
      const std::int64_t metres = plan.metres();
      const std::int64_t seconds = plan.seconds();
      const auto quotes = plan.quote(request, kSlots);
      CHECK(plan.cost() == before);
      const auto slot = static_cast<std::size_t>(draw.between(0, 7));
      const bool fits = quotes[slot].where.fits();
      const auto number = plan.insert(request, kSlots[slot]);
      CHECK(number.has_value() == fits);
      CHECK((fits || quotes[slot].obstacle != Obstacle::none));
      if (!fits) { continue; }
      ++fitted;
      CHECK(plan.cost() - before == quotes[slot].added);
      CHECK(plan.metres() - metres == quotes[slot].added_metres);
      CHECK(plan.seconds() - seconds == quotes[slot].added_seconds);
      // Wider windows are never dearer: slot 5 holds the first five.
      if (slot < 5) { CHECK(quotes[5].added <= quotes[slot].added); }
      CHECK(all_wrong(plan) == "");
    }
    CHECK(fitted > 3);
  }
}

TEST_CASE("removing what was inserted last brings the cost back") {
  Draw draw(7);
  Schedule plan(draw.fleet(4));
  for (int t = 0; t < 20; ++t) {
    const Money before = plan.cost();
    const auto number = plan.insert(draw.request(t));
    if (!number) { continue; }
    CHECK(plan.remove(*number));
    CHECK(plan.cost() == before);
    CHECK_FALSE(plan.find("t" + std::to_string(t)));
    const bool other = plan.insert(draw.request(100 + t)).has_value();
    CHECK(plan.find("t" + std::to_string(100 + t)).has_value() == other);
  }
  CHECK(all_wrong(plan) == "");
}

TEST_CASE("improving keeps who is served, costs no more and is the same again") {
  for (std::uint64_t seed = 50; seed < 60; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    Schedule plan(draw.fleet(4));
    for (int t = 0; t < 25; ++t) { plan.insert(draw.request(t)); }
    const std::size_t tasks = plan.problem().tasks.size() - plan.unserved().size();
    const Money before = plan.cost();
    Schedule twin = plan;
    plan.improve(300, seed);
    CHECK(plan.cost() <= before);
    CHECK(plan.problem().tasks.size() - plan.unserved().size() == tasks);
    CHECK(all_wrong(plan) == "");
    twin.improve(300, seed);
    CHECK(solution_json(twin) == solution_json(plan));
  }
}

TEST_CASE("stops under way stay first, and nothing is driven to before now") {
  for (std::uint64_t seed = 80; seed < 100; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    Schedule plan(draw.fleet(3));
    for (int t = 0; t < 15; ++t) { plan.insert(draw.request(t)); }
    const Route& route = plan.routes()[0];
    const std::int32_t stops = std::min(2, route.num_stops());
    std::vector<std::int32_t> before;
    for (std::int32_t k = 1; k <= stops; ++k) { before.push_back(route.visits[k].stop); }
    const Time now = route.visits[stops].leave;
    plan.freeze(0, stops, now);
    for (int t = 20; t < 30; ++t) { plan.insert(draw.request(t)); }
    plan.improve(200, seed);
    for (std::int32_t k = 1; k <= stops; ++k) {
      CHECK(plan.routes()[0].visits[k].stop == before[k - 1]);
    }
    CHECK(plan.routes()[0].visits[stops].leave >= now);
    CHECK(all_wrong(plan) == "");
  }
}

namespace {

/// A way from place 0 to place 2 that takes longer than the one through place 1.
Schedule roundabout_plan(int vehicles) {
  std::string list;
  for (int v = 0; v < vehicles; ++v) {
    // The second van starts at place 2.
    list += fmt::format(R"({}{{"id": {}, "start_index": {}, "time_window": [0, 5000]}})",
                        v == 0 ? "" : ", ", v, 2 * v);
  }
  const std::string text = R"({"vehicles": [)" + list + R"(],
    "jobs": [{"id": "via", "location_index": 1, "time_windows": [[0, 150]]},
             {"id": "kept", "location_index": 2, "time_windows": [[200, 250]]}],
    "matrices": {"car": {"durations": [[0, 100, 900], [100, 0, 100], [900, 100, 0]]}}})";
  Schedule plan(read_problem(text, "test"));
  std::vector<std::vector<std::int32_t>> stops(static_cast<std::size_t>(vehicles));
  stops[0] = {2 * *plan.find("via"), 2 * *plan.find("kept")};
  CHECK_FALSE(plan.load(stops));
  return plan;
}

}  // namespace

TEST_CASE("what others need to be served in time cannot be removed, or they go elsewhere") {
  Schedule one_van = roundabout_plan(1);
  const std::string before = solution_json(one_van);
  CHECK_FALSE(one_van.remove(*one_van.find("via")));
  CHECK(solution_json(one_van) == before);
  CHECK(all_wrong(one_van) == "");

  Schedule two_vans = roundabout_plan(2);
  CHECK(two_vans.remove(*two_vans.find("via")));
  CHECK(two_vans.vehicle_of(*two_vans.find("kept")) == 1);
  CHECK(all_wrong(two_vans) == "");
}

TEST_CASE("an id that a job and a shipment share finds neither") {
  const Schedule plan(read_problem(
      R"({"vehicles": [{"id": 1, "start": [0, 0]}], "jobs": [{"id": 7, "location": [0, 0.1]}],
          "shipments": [{"pickup": {"id": 7, "location": [0, 0.2]},
                         "delivery": {"id": 8, "location": [0, 0.3]}}]})",
      "test"));
  CHECK_THROWS_WITH_AS(static_cast<void>(plan.find("7")), doctest::Contains("give them two"),
                       DataError);
}
