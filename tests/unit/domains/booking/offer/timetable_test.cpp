#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/offer/offer.h"

// Timetables to drive by, beside all schedules by the second.

namespace penstock::booking {
namespace {

using Route = std::vector<std::int32_t>;
using Starts = std::vector<Seconds>;

const Node& stop_at(const Instance& day, std::int32_t node) {
  return day.nodes[static_cast<std::size_t>(node)];
}

Seconds rides(const Instance& day, const Route& route, const Starts& starts) {
  Seconds sum = 0;
  if (day.mode == Mode::deliver) { return sum; }
  for (std::size_t i = 0; i < route.size(); ++i) {
    sum += route[i] % 2 == 0 ? starts[i] : -starts[i] - stop_at(day, route[i]).service;
  }
  return sum;
}

Seconds out(const Instance& day, const Route& route, const Starts& starts) {
  return starts.back() + stop_at(day, route.back()).service + day.duration_of(route.back(), 0) -
         (starts[0] - day.duration_of(0, route[0]));
}

/// Calls `found` with every schedule that keeps all promises.
void every_schedule(const Instance& day, const Route& route,
                    const std::function<void(const Starts&)>& found) {
  Starts starts(route.size());
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (i == route.size()) {
      const Seconds back =
          starts[i - 1] + stop_at(day, route[i - 1]).service + day.duration_of(route[i - 1], 0);
      if (back <= day.nodes[0].window.latest) { found(starts); }
      return;
    }
    const Seconds free = i == 0 ? day.nodes[0].window.earliest + day.duration_of(0, route[0])
                                : starts[i - 1] + stop_at(day, route[i - 1]).service +
                                      day.duration_of(route[i - 1], route[i]);
    const Window window = stop_at(day, route[i]).window;
    for (Seconds t = std::max(free, window.earliest); t <= window.latest; ++t) {
      if (day.max_ride > 0 && route[i] % 2 == 0) {
        const auto up = static_cast<std::size_t>(
            std::find(route.begin(), route.end(), route[i] - 1) - route.begin());
        if (t - starts[up] - stop_at(day, route[up]).service > day.max_ride) { break; }
      }
      starts[i] = t;
      place(i + 1);
    }
  };
  place(0);
}

struct Best {
  Seconds rides = 100000;
  Seconds out = 100000;
  Starts starts;  // the earliest of the best
};

Best best_of(const Instance& day, const Route& route) {
  Best best;
  every_schedule(day, route, [&](const Starts& starts) {
    const Seconds ride = rides(day, route, starts);
    const Seconds away = out(day, route, starts);
    if (std::pair(ride, away) >= std::pair(best.rides, best.out)) { return; }
    best = {ride, away, starts};
  });
  return best;
}

Instance random_day(Random& random, Mode mode, Seconds max_ride) {
  Instance day;
  day.mode = mode;
  day.max_ride = max_ride;
  day.nodes.resize(7);
  day.nodes[0].window = {0, static_cast<Seconds>(20 + random.below(12))};
  for (std::size_t i = 1; i < 7; ++i) {
    const auto begin = static_cast<Seconds>(random.below(14));
    day.nodes[i] = {{begin, begin + static_cast<Seconds>(4 + random.below(4))},
                    static_cast<Seconds>(random.below(2)),
                    i % 2 == 1 ? 1 : -1};
  }
  for (int i = 0; i < 49; ++i) { day.duration.push_back(static_cast<Seconds>(random.below(3))); }
  return day;
}

const std::vector<Route> kRoutes = {{1, 3, 2, 4, 5, 6}, {1, 3, 5, 2, 4, 6}, {1, 3, 5, 6, 4, 2},
                                    {5, 1, 6, 3, 2, 4}, {1, 2, 3, 4, 5, 6}, {3, 1, 2, 4}};

}  // namespace

TEST_CASE("timetables have the shortest rides, then the shortest way out and back") {
  for (const Mode mode : {Mode::ride, Mode::deliver}) {
    Random random(7);
    int schedules = 0;
    int waits_saved = 0;
    for (int trial = 0; trial < 6000; ++trial) {
      const Instance day = random_day(random, mode, 0);
      const Route& route = kRoutes[random.below(6)];
      const Best best = best_of(day, route);
      if (best.starts.empty()) { continue; }
      CAPTURE(trial);
      const Starts starts = late_starts_of(day, day.nodes, route);
      REQUIRE(rides(day, route, starts) == best.rides);
      REQUIRE(out(day, route, starts) == best.out);
      const Starts early = starts_of(day, day.nodes, route);
      ++schedules;
      waits_saved += rides(day, route, early) > best.rides || out(day, route, early) > best.out;
    }
    CHECK(schedules > 200);
    CHECK(waits_saved > 50);
  }
}

TEST_CASE("with a longest ride timetables keep it, and are seldom longer than they need be") {
  Random random(8);
  int schedules = 0;
  int longer = 0;
  for (int trial = 0; trial < 8000; ++trial) {
    const Instance day = random_day(random, Mode::ride, static_cast<Seconds>(2 + random.below(6)));
    const Route& route = kRoutes[random.below(6)];
    const Best best = best_of(day, route);
    if (best.starts.empty()) { continue; }
    const Starts starts = late_starts_of(day, day.nodes, route);
    bool holds = false;
    every_schedule(day, route, [&](const Starts& one) { holds = holds || one == starts; });
    CAPTURE(trial);
    REQUIRE(holds);
    const Starts early = starts_of(day, day.nodes, route);
    REQUIRE(rides(day, route, starts) <= rides(day, route, early));
    ++schedules;
    longer += rides(day, route, starts) > best.rides || out(day, route, starts) > best.out ? 1 : 0;
  }
  CHECK(schedules > 200);
  CHECK(longer * 10 <= schedules);
}

}  // namespace penstock::booking
