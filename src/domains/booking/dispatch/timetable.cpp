#include <algorithm>
#include <vector>

#include "domains/booking/dispatch/parts.h"

namespace penstock::booking::dispatch {
namespace {

/// For each delivery of a shipment the visit of its pickup; for others -1.
std::vector<std::int32_t> pickups_in(const Problem& problem, const Route& route) {
  std::vector<std::int32_t> pickups(route.visits.size(), -1);
  for (std::size_t k = 0; k < route.visits.size(); ++k) {
    const std::int32_t stop = route.visits[k].stop;
    if (stop < 0 || stop % 2 == 0 || !task_of(problem, stop).is_shipment) { continue; }
    for (std::size_t i = 0; i < k; ++i) {
      if (route.visits[i].stop == stop - 1) { pickups[k] = ordinal(i); }
    }
  }
  return pickups;
}

/// Whether a ride takes longer than its limit although nobody waits on the way: then no start keeps
/// it.
bool rides_too_long(const Problem& problem, const Route& route,
                    std::span<const std::int32_t> pickups) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  std::vector<Time> reached(route.visits.size(), 0);  // without waiting, from the first visit on
  for (std::size_t k = 1; k < route.visits.size(); ++k) {
    const Visit& before = route.visits[k - 1];
    const Visit& visit = route.visits[k];
    reached[k] = reached[k - 1] + before.work + visit.in.seconds;
    for (std::int32_t b = before.first_break; b < visit.first_break; ++b) {
      reached[k] += vehicle.breaks[index(b)].service;
    }
    if (pickups[k] < 0) { continue; }
    const std::int32_t limit = task_of(problem, visit.stop).max_ride;
    const std::size_t up = index(pickups[k]);
    if (limit != 0 && reached[k] - reached[up] - route.visits[up].work > limit) { return true; }
  }
  return false;
}

/// Raises starts to what driving allows; false when one is too late.
bool drive_on(const Problem& problem, const Route& route, std::span<Time> starts) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  for (std::size_t k = 0; k < route.visits.size(); ++k) {
    const Visit& visit = route.visits[k];
    Time least = vehicle.shift.earliest;
    if (k > 0) {
      const Visit& before = route.visits[k - 1];
      Time leave = starts[k - 1] + before.work;
      if (index(route.frozen) == k - 1) { leave = std::max(leave, route.not_before); }
      least = arrival(vehicle, leave, visit.in.seconds, before.first_break, visit.first_break);
    }
    starts[k] = std::max(starts[k], least);
    if (visit.stop >= 0) { starts[k] = first_inside(windows_of(problem, visit), starts[k]); }
    if (starts[k] > visit.latest) { return false; }
  }
  return true;
}

/// The end of the window in which a start lies.
Time window_end(const Problem& problem, const Visit& visit, Time start) {
  if (visit.stop < 0) { return kForever; }
  for (const TimeWindow& window : windows_of(problem, visit)) {
    if (start >= window.earliest && start <= window.latest) { return window.latest; }
  }
  return windows_of(problem, visit).empty() ? kForever : start;
}

/// Starts of a route that may be put off.
class Delays {
 public:
  Delays(const Problem& problem, const Route& route)
      : problem_(problem), route_(route), starts_(route.visits.size(), -kForever) {}

  std::vector<Time> settle() {
    settle_rides(problem_, route_, starts_);
    leave_late();
    if (route_.break_after.empty()) { board_late(); }
    return std::move(starts_);
  }

 private:
  /// Leaving later is better while the end stays.
  void leave_late() {
    const Vehicle& vehicle = vehicle_of(problem_, route_);
    if (route_.frozen > 0) { return; }
    Time by = starts_.back();
    for (std::size_t k = route_.num_gaps(); k-- > 0;) {
      const Visit& visit = route_.visits[k];
      const Visit& next = route_.visits[k + 1];
      by = leave_by(vehicle, by, next.in.seconds, visit.first_break, next.first_break) - visit.work;
      if (visit.stop >= 0) { by = last_inside(windows_of(problem_, visit), by); }
    }
    std::vector<Time> late(starts_.size(), -kForever);
    late[0] = std::max(by, starts_[0]);
    if (settle_rides(problem_, route_, late) && late.back() == starts_.back()) {
      starts_ = std::move(late);
    }
  }

  /// Pickups wait for the goods, or the passenger at home, not on board.
  void board_late() {
    for (std::size_t k = route_.visits.size() - 1; k-- > index(route_.frozen) + 1;) {
      const std::int32_t stop = route_.visits[k].stop;
      if (stop < 0 || stop % 2 == 1 || !task_of(problem_, stop).is_shipment) { continue; }
      const Visit& next = route_.visits[k + 1];
      const Time slack = starts_[k + 1] - next.in.seconds - route_.visits[k].work - starts_[k];
      const Time end = window_end(problem_, route_.visits[k], starts_[k]);
      starts_[k] += std::max<Time>(0, std::min(slack, end - starts_[k]));
    }
  }

  const Problem& problem_;
  const Route& route_;
  std::vector<Time> starts_;
};

}  // namespace

bool settle_rides(const Problem& problem, const Route& route, std::span<Time> starts) {
  if (!drive_on(problem, route, starts)) { return false; }
  if (!route.limited_rides) { return true; }
  const std::vector<std::int32_t> pickups = pickups_in(problem, route);
  if (rides_too_long(problem, route, pickups)) { return false; }
  // Starts only rise, so that the first that keep everything are the earliest. There are such, or
  // one is too late: after the last window nobody waits.
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      if (pickups[k] < 0) { continue; }
      const std::size_t up = index(pickups[k]);
      const std::int32_t limit = task_of(problem, route.visits[k].stop).max_ride;
      const Time least = starts[k] - limit - route.visits[up].work;
      if (limit == 0 || starts[up] >= least) { continue; }
      starts[up] = least;
      moved = true;
    }
    if (!drive_on(problem, route, starts)) { return false; }
  }
  return true;
}

Timetable timetable(const Problem& problem, const Route& route) {
  Timetable table;
  if (route.num_stops() == 0) { return table; }
  const Vehicle& vehicle = vehicle_of(problem, route);
  const std::vector<Time> starts = Delays(problem, route).settle();
  std::int64_t seconds = 0;
  std::int64_t metres = 0;
  Time now = starts[0];
  for (std::size_t k = 0; k < route.visits.size(); ++k) {
    const Visit& visit = route.visits[k];
    std::int64_t left = visit.in.seconds;
    for (std::int32_t b = k == 0 ? 0 : route.visits[k - 1].first_break;
         k > 0 && b < visit.first_break; ++b) {
      const Break& pause = vehicle.breaks[index(b)];
      const Time begin = first_inside(pause.windows, now);
      const std::int64_t driven = std::min(left, begin - now);
      table.rows.push_back({.visit = ordinal(k),
                            .pause = b,
                            .arrival = now + driven,
                            .start = begin,
                            .end = begin + pause.service,
                            .driven_seconds = seconds + driven,
                            .driven_metres = metres});
      seconds += driven;
      left -= driven;
      now = begin + pause.service;
    }
    seconds += left;
    metres += visit.in.metres;
    const Time there = k == 0 ? starts[0] : now + left;
    const Time end = starts[k] + visit.work;
    table.rows.push_back({.visit = ordinal(k),
                          .arrival = there,
                          .start = starts[k],
                          .end = end,
                          .driven_seconds = seconds,
                          .driven_metres = metres});
    now = k == index(route.frozen) && k > 0 ? std::max(end, route.not_before) : end;
  }
  return table;
}

}  // namespace penstock::booking::dispatch
