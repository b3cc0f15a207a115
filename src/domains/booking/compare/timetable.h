#pragma once
#include <cstdint>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking::detail {

/// A stop as it is kept when every vehicle is as early as it may be.
struct Visit {
  std::int32_t node = 0;
  Seconds arrival = 0;
  Seconds start = 0;  // of service: the time between is spent waiting
  Seconds end = 0;
};

/// One vehicle's day.
struct Timetable {
  std::int32_t vehicle = 0;
  Seconds leaves = 0;  // the depot, just in time for the first stop
  Seconds returns = 0;
  Cost cost = 0;
  std::vector<Visit> visits;
};

/// Of the vehicles that leave the depot.
std::vector<Timetable> timetables(const Instance& instance, const Plan& plan);

}  // namespace penstock::booking::detail
