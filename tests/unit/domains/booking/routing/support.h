#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking::test {

struct DayOptions {
  Mode mode = Mode::ride;
  std::int32_t requests = 30;
  std::int32_t vehicles = 5;
  std::int32_t capacity = 4;
  Seconds window = 1800;
  Seconds max_ride = 0;
  double skew = 0;    // of the matrices: one way may be longer by this share
  double tangle = 0;  // breaks the triangle inequality: single legs longer by this share
};

/// A small random day in a square of 8 km, from 7 to 20 h; no generator of the library.
inline Instance random_day(std::uint64_t seed, const DayOptions& options) {
  Random random(seed);
  Instance day;
  day.mode = options.mode;
  day.vehicles = options.vehicles;
  day.capacity = options.capacity;
  day.max_ride = options.max_ride;
  const auto count =
      static_cast<std::size_t>(1 + options.requests * (options.mode == Mode::ride ? 2 : 1));
  day.nodes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    day.points.push_back({random.uniform(0, 8000), random.uniform(0, 8000)});
  }
  for (const Point& a : day.points) {
    for (const Point& b : day.points) {
      double metres = std::hypot(a.x - b.x, a.y - b.y) * 1.3;
      if (a.x < b.x) { metres *= 1 + options.skew; }
      if (random.uniform() < 0.2) { metres *= 1 + options.tangle; }
      day.distance.push_back(static_cast<Metres>(std::lround(metres)));
      day.duration.push_back(static_cast<Seconds>(std::lround(metres / 6.5)));
    }
  }
  if (options.skew == 0 && options.tangle == 0) { day.shortcut = 2; }  // of rounding
  day.nodes[0].window = {6 * 3600, 21 * 3600};
  for (std::int32_t r = 0; r < options.requests; ++r) {
    const std::int32_t a = day.first_node(r);
    const auto begin = static_cast<Seconds>(25200 + random.below(43200));
    const auto load = static_cast<std::int32_t>(1 + random.below(2));
    day.nodes[static_cast<std::size_t>(a)] = {{begin, begin + options.window}, 60, load};
    if (options.mode == Mode::deliver) { continue; }
    const Seconds after = 60 + day.duration_of(a, a + 1);
    day.nodes[static_cast<std::size_t>(a + 1)] = {
        {begin + after, begin + after + options.window}, 60, -load};
  }
  return day;
}

}  // namespace penstock::booking::test
