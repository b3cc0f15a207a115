#pragma once
#include "domains/booking/dispatch/insertion.h"
#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {

/// Memory that a schedule uses again and again; it holds nothing between two calls.
struct Schedule::Scratch {
  Places places;
};

/// What a placement adds to a route, computed from it alone.
Detour detour_of(const Problem& problem, const Route& route, std::int32_t task,
                 const Placement& where);

/// The cheapest place of a task in a route that is cheaper than `best`, its own windows kept;
/// `blink` passes places over.
template <class Blink>
void look_for_cheaper(Places& places, const Problem& problem, const Route& route, std::int32_t task,
                      Blink& blink, Placement& best, const LegTable* table = nullptr) {
  if (!places.begin(problem, route, task, table)) { return; }
  const Task& asked = problem.tasks[index(task)];
  const auto worth = [&](Money added) { return (!best.fits() || added < best.added) && !blink(); };
  const auto keep = [&](const Placement& where) {
    if (best.fits() && where.added >= best.added) { return; }
    if (places.has_limited_rides() && !places.rides_hold(where)) { return; }
    best = where;
  };
  if (asked.is_shipment) {
    // In a search a delivery on the way is taken to save nothing.
    const auto hope = [&](Money added) {
      return table == nullptr || !best.fits() || added < best.added;
    };
    places.each_of_shipment(asked.stops[0].windows, asked.stops[1].windows, hope, worth,
                            [&](const Placement& where, Time, Time) { keep(where); });
    return;
  }
  const TimeWindows& windows = asked.stops[0].windows;
  const TimeWindow span = windows.empty() ? TimeWindow{.earliest = -kForever}
                                          : TimeWindow{.earliest = windows.front().earliest,
                                                       .latest = windows.back().latest};
  places.each_of_job(span, worth, [&](const Placement& where, Time earliest, Time latest) {
    if (first_inside(windows, earliest) <= latest) { keep(where); }
  });
}

}  // namespace penstock::booking::dispatch
