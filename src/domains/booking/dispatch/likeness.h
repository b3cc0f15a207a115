#pragma once
#include "penstock/domains/booking/dispatch/problem.h"

namespace penstock::booking::dispatch {

/// Whether ways take and cost two vehicles the same.
inline bool drive_alike(const Vehicle& a, const Vehicle& b) {
  return a.profile == b.profile && a.speed_factor == b.speed_factor && a.per_hour == b.per_hour &&
         a.per_km == b.per_km;
}

/// Whether it does not matter which of the two is sent.
inline bool are_alike(const Problem& problem, const Vehicle& a, const Vehicle& b) {
  return drive_alike(a, b) && a.type == b.type && a.shift == b.shift && a.skills == b.skills &&
         a.capacity == b.capacity && a.fixed == b.fixed && a.per_task_hour == b.per_task_hour &&
         a.max_tasks == b.max_tasks && a.max_travel_time == b.max_travel_time &&
         a.max_distance == b.max_distance && a.breaks.empty() && b.breaks.empty() &&
         problem.same_place(a.start, b.start) && problem.same_place(a.end, b.end);
}

}  // namespace penstock::booking::dispatch
