#pragma once
#include <numeric>
#include <vector>

#include "penstock/domains/booking/neural/model.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::test {

inline std::vector<std::int32_t> all_requests(const Instance& day) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(day.num_requests()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Large enough to have every part twice.
inline Model small_model(std::uint64_t seed = 7) {
  return Model({.layers = 2, .heads = 2, .hidden = 32, .edge_hidden = 16}, seed);
}

/// Days of both modes and many sizes, some with asymmetric ways and the longest ride.
inline std::vector<Instance> mixed_days(std::size_t count) {
  std::vector<Instance> days;
  for (std::size_t i = 0; i < count; ++i) {
    days.push_back(random_day(100 + i, {.mode = i % 3 == 0 ? Mode::deliver : Mode::ride,
                                        .requests = static_cast<std::int32_t>(1 + (7 * i) % 33),
                                        .vehicles = 8,
                                        .capacity = i % 3 == 0 ? 20 : 4,
                                        .max_ride = i % 5 == 0 ? 3600 : 0,
                                        .skew = i % 4 == 0 ? 0.3 : 0.0}));
  }
  return days;
}

}  // namespace penstock::booking::test
