#include "penstock/domains/booking/dispatch/route.h"

#include <algorithm>

#include "domains/booking/dispatch/parts.h"

namespace penstock::booking::dispatch {
namespace {

bool has_setup(const Stop& stop) { return stop.setup > 0 || !stop.setup_by_type.empty(); }

void drive_forward(const Problem& problem, Route& route) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  route.cost = route.num_stops() > 0 ? vehicle.fixed : 0;
  route.metres = route.seconds = 0;
  for (std::size_t k = 0; k < route.visits.size(); ++k) {
    Visit& visit = route.visits[k];
    if (k == 0) {
      visit.start = visit.leave = vehicle.shift.earliest;
    } else {
      const Visit& before = route.visits[k - 1];
      if (visit.from != before.place) {
        visit.from = before.place;
        visit.in = problem.leg(vehicle, before.place, visit.place);
        visit.in_cost = problem.cost(vehicle, visit.in);
      }
      visit.plain = visit.stop < 0 || !has_setup(stop_of(problem, visit.stop));
      visit.work =
          visit.stop < 0 ? 0 : problem.work(vehicle, stop_of(problem, visit.stop), before.place);
      const Time there =
          arrival(vehicle, before.leave, visit.in.seconds, before.first_break, visit.first_break);
      visit.start = visit.stop < 0 ? there : first_inside(windows_of(problem, visit), there);
      visit.leave = visit.start + visit.work;
      route.cost += visit.in_cost + work_cost(vehicle, visit.work);
      route.metres += visit.in.metres;
      route.seconds += visit.in.seconds;
    }
    if (index(route.frozen) == k) { visit.leave = std::max(visit.leave, route.not_before); }
  }
  if (route.num_stops() == 0) { route.cost = route.metres = route.seconds = 0; }
}

void look_backward(const Problem& problem, Route& route) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  Visit& end = route.visits.back();
  // Before kForever, which stands for a stop that is come to too late.
  end.latest = end.latest_leave = std::min(vehicle.shift.latest, kForever - 1);
  for (std::size_t k = route.num_gaps(); k-- > 0;) {
    Visit& visit = route.visits[k];
    const Visit& next = route.visits[k + 1];
    visit.latest_leave =
        leave_by(vehicle, next.latest, next.in.seconds, visit.first_break, next.first_break);
    const Time by = visit.latest_leave - visit.work;
    visit.latest = visit.stop < 0 ? by : last_inside(windows_of(problem, visit), by);
  }
}

void number_breaks(const Problem& problem, Route& route) {
  const std::size_t breaks = vehicle_of(problem, route).breaks.size();
  std::size_t taken = 0;
  for (std::size_t k = 0; k < route.visits.size(); ++k) {
    // A visit's number is that of the breaks in the gaps before its own.
    while (taken < breaks && index(route.break_after[taken]) < k) { ++taken; }
    route.visits[k].first_break = ordinal(taken);
  }
}

bool is_in_time(const Route& route) {
  return std::all_of(route.visits.begin(), route.visits.end(),
                     [](const Visit& visit) { return visit.start <= visit.latest; });
}

bool keeps_limits(const Vehicle& vehicle, const Route& route) {
  return route.num_stops() <= vehicle.max_tasks && route.seconds <= vehicle.max_travel_time &&
         route.metres <= vehicle.max_distance &&
         std::all_of(route.room_after.begin(), route.room_after.end(),
                     [](std::int64_t room) { return room >= 0; });
}

}  // namespace

Time arrival(const Vehicle& vehicle, Time leave, Time seconds, std::int32_t first,
             std::int32_t last) {
  Time now = leave;
  for (std::int32_t b = first; b < last; ++b) {
    const Break& pause = vehicle.breaks[index(b)];
    const Time begin = first_inside(pause.windows, now);
    if (begin >= kForever) { return kForever; }
    seconds = std::max<Time>(0, seconds - (begin - now));
    now = begin + pause.service;
  }
  return std::min(kForever, now + seconds);
}

Time leave_by(const Vehicle& vehicle, Time arrive_by, Time seconds, std::int32_t first,
              std::int32_t last) {
  Time begin_by = kForever;
  for (std::int32_t b = last; b-- > first;) {
    const Break& pause = vehicle.breaks[index(b)];
    begin_by = last_inside(pause.windows, std::min(begin_by, arrive_by) - pause.service);
    arrive_by -= pause.service;
  }
  return std::min(begin_by, arrive_by - seconds);
}

Route empty_route(const Problem& problem, std::int32_t vehicle) {
  Route route{.vehicle = vehicle};
  const Vehicle& driver = problem.vehicles[index(vehicle)];
  route.visits.resize(2);
  route.visits[0].place = driver.start;
  route.visits[1].place = driver.end;
  route.break_after.assign(driver.breaks.size(), 0);
  rebuild(problem, route);
  return route;
}

void rebuild(const Problem& problem, Route& route) {
  number_breaks(problem, route);
  drive_forward(problem, route);
  look_backward(problem, route);
  fill_loads(problem, route);
  route.limited_rides =
      std::any_of(route.visits.begin(), route.visits.end(), [&](const Visit& visit) {
        return visit.stop >= 0 && task_of(problem, visit.stop).max_ride > 0;
      });
  route.feasible = route.num_stops() == 0 ||
                   (is_in_time(route) && keeps_limits(vehicle_of(problem, route), route));
}

}  // namespace penstock::booking::dispatch
