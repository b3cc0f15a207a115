#include "penstock/domains/booking/dispatch/schedule.h"

#include <doctest/doctest.h>

#include <string>

#include "draw.h"
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
    plan.remove(*number);
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
