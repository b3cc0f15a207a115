#include "domains/booking/dispatch/insertion.h"

#include <limits>

namespace penstock::booking::dispatch {

namespace {

PricedLeg priced(const Problem& problem, const Vehicle& vehicle, std::int32_t from,
                 std::int32_t to) {
  const Leg leg = problem.leg(vehicle, from, to);
  return {.seconds = leg.seconds, .metres = leg.metres, .cost = problem.cost(vehicle, leg)};
}

}  // namespace

LegTable make_table(const Problem& problem, const Vehicle& vehicle) {
  const std::size_t size = problem.places.size();
  LegTable table{.places = size};
  table.from.resize(size * size);
  table.to.resize(size * size);
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      const PricedLeg leg = priced(problem, vehicle, ordinal(a), ordinal(b));
      table.from[a * size + b] = leg;
      table.to[b * size + a] = leg;
    }
  }
  return table;
}

void Ways::fill(const Problem& problem, const LegTable* table, const Route& route,
                std::int32_t place) {
  by_visit.resize(route.visits.size());
  if (table == nullptr) {
    const Vehicle& vehicle = vehicle_of(problem, route);
    for (std::size_t k = 0; k < by_visit.size(); ++k) {
      const std::int32_t other = route.visits[k].place;
      by_visit[k] = {.to = priced(problem, vehicle, other, place),
                     .from = priced(problem, vehicle, place, other)};
    }
    return;
  }
  const PricedLeg* const to = table->to.data() + index(place) * table->places;
  const PricedLeg* const from = table->from.data() + index(place) * table->places;
  for (std::size_t k = 0; k < by_visit.size(); ++k) {
    const std::int32_t other = route.visits[k].place;
    by_visit[k] = other < 0 ? Way{} : Way{.to = to[other], .from = from[other]};
  }
}

bool Places::begin(const Problem& problem, const Route& route, std::int32_t number,
                   const LegTable* table) {
  const Task& task = problem.tasks[index(number)];
  problem_ = &problem;
  route_ = &route;
  task_ = &task;
  number_ = number;
  vehicle_ = &vehicle_of(problem, route);
  if (!problem.can_serve(*vehicle_, task) || !route.feasible ||
      route.num_stops() + task.num_stops() > vehicle_->max_tasks) {
    return false;
  }
  first_.fill(problem, table, route, task.stops[0].place);
  if (task.is_shipment) {
    second_.fill(problem, table, route, task.stops[1].place);
    between_ = priced(problem, *vehicle_, task.stops[0].place, task.stops[1].place);
  }
  return true;
}

std::int32_t Places::work_after(std::size_t k, std::int32_t place) const {
  const Visit& visit = route_->visits[k];
  return visit.stop < 0 ? 0 : problem_->work(*vehicle_, stop_of(*problem_, visit.stop), place);
}

Time Places::latest_after(std::size_t k, std::int32_t place) const {
  const Visit& visit = route_->visits[k];
  const std::int32_t work = work_after(k, place);
  if (work == visit.work) { return visit.latest; }
  return last_inside(windows_of(*problem_, visit), visit.latest_leave - work);
}

/// The leg to the next visit is not driven any more; that of an empty route never was.
void Places::spare(const Visit& next, Detour& detour) const {
  if (route_->num_stops() == 0) {
    detour.cost += vehicle_->fixed;
    return;
  }
  detour.cost -= next.in_cost;
  detour.seconds -= next.in.seconds;
  detour.metres -= next.in.metres;
}

Detour Places::detour(std::size_t k, const Ways& ways, const Stop& stop) const {
  const Visit& before = route_->visits[k];
  const Visit& next = route_->visits[k + 1];
  const Ways::Way& to = ways[k];
  const Ways::Way& from = ways[k + 1];
  Detour detour{.cost = to.to.cost + from.from.cost,
                .seconds = std::int64_t{to.to.seconds} + from.from.seconds,
                .metres = std::int64_t{to.to.metres} + from.from.metres};
  spare(next, detour);
  if (vehicle_->per_task_hour != 0) {
    const std::int64_t work = std::int64_t{problem_->work(*vehicle_, stop, before.place)} +
                              work_after(k + 1, stop.place) - next.work;
    detour.cost += work_cost(*vehicle_, work);
  }
  return detour;
}

Detour Places::detour_together(std::size_t k) const {
  const Visit& before = route_->visits[k];
  const Visit& next = route_->visits[k + 1];
  const Ways::Way& to = first_[k];
  const Ways::Way& from = second_[k + 1];
  Detour detour{.cost = to.to.cost + between_.cost + from.from.cost,
                .seconds = std::int64_t{to.to.seconds} + between_.seconds + from.from.seconds,
                .metres = std::int64_t{to.to.metres} + between_.metres + from.from.metres};
  spare(next, detour);
  if (vehicle_->per_task_hour != 0) {
    const auto& [pickup, delivery] = task_->stops;
    const std::int64_t work = std::int64_t{problem_->work(*vehicle_, pickup, before.place)} +
                              problem_->work(*vehicle_, delivery, pickup.place) +
                              work_after(k + 1, delivery.place) - next.work;
    detour.cost += work_cost(*vehicle_, work);
  }
  return detour;
}

/// A job's delivery is on board on all legs before, its pickup on all after.
bool Places::has_room(std::size_t k) const {
  const std::size_t amounts = index(problem_->num_amounts);
  for (std::size_t d = 0; d < amounts; ++d) {
    if (route_->room_before[k * amounts + d] < task_->delivery[d] ||
        route_->room_after[k * amounts + d] < task_->pickup[d]) {
      return false;
    }
  }
  return true;
}

/// Whether a shipment can be on board on this leg.
bool Places::carries(std::size_t leg) const {
  const std::size_t amounts = index(problem_->num_amounts);
  for (std::size_t d = 0; d < amounts; ++d) {
    std::int64_t limit = vehicle_->capacity[d];
    for (std::int32_t b = route_->visits[leg].first_break; b < route_->visits[leg + 1].first_break;
         ++b) {
      const Break& pause = vehicle_->breaks[index(b)];
      if (pause.limits_load) { limit = std::min<std::int64_t>(limit, pause.max_load[d]); }
    }
    if (route_->load[leg * amounts + d] + task_->pickup[d] > limit) { return false; }
  }
  return true;
}

bool Places::rides_hold(const Placement& where) {
  trial_ = *route_;
  insert(*problem_, trial_, number_, where);
  starts_.assign(trial_.visits.size(), -kForever);
  return settle_rides(*problem_, trial_, starts_);
}

}  // namespace penstock::booking::dispatch
