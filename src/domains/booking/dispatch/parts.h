#pragma once
#include <cstddef>
#include <cstdint>

#include "domains/booking/dispatch/index.h"
#include "penstock/domains/booking/dispatch/route.h"

namespace penstock::booking::dispatch {

inline const Vehicle& vehicle_of(const Problem& problem, const Route& route) {
  return problem.vehicles[index(route.vehicle)];
}
inline const Task& task_of(const Problem& problem, std::int32_t stop) {
  return problem.tasks[index(stop) / 2];
}
inline const Stop& stop_of(const Problem& problem, std::int32_t stop) {
  return task_of(problem, stop).stops[index(stop) % 2];
}
inline const TimeWindows& windows_of(const Problem& problem, const Visit& visit) {
  return stop_of(problem, visit.stop).windows;
}
inline Money work_cost(const Vehicle& vehicle, std::int64_t seconds) {
  return vehicle.per_task_hour * 1000 * seconds;
}

/// Tries the breaks everywhere, one after the other, in a route that they may make late; whether it
/// is in time then.
bool spread_breaks(const Problem& problem, Route& route);

/// Loads and rooms of a route whose order is known.
void fill_loads(const Problem& problem, Route& route);

}  // namespace penstock::booking::dispatch
