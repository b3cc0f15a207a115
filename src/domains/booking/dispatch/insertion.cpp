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
  const std::size_t width = problem.places.size() + 1;
  LegTable table{.width = width};
  table.from.resize(width * width);
  table.to.resize(width * width);
  for (std::size_t a = 1; a < width; ++a) {
    for (std::size_t b = 1; b < width; ++b) {
      const PricedLeg leg = priced(problem, vehicle, ordinal(a) - 1, ordinal(b) - 1);
      table.from[a * width + b] = leg;
      table.to[b * width + a] = leg;
    }
  }
  return table;
}

void Ways::begin(const Problem& problem, const LegTable* table, const Route& route,
                 std::int32_t place) {
  visits_ = route.visits.data();
  if (table != nullptr) {
    const std::size_t row = index(place + 1) * table->width + 1;
    to_ = table->to.data() + row;
    from_ = table->from.data() + row;
    return;
  }
  to_ = from_ = nullptr;
  computed_.resize(route.visits.size());
  const Vehicle& vehicle = vehicle_of(problem, route);
  for (std::size_t k = 0; k < computed_.size(); ++k) {
    const std::int32_t other = visits_[k].place;
    computed_[k] = {.to = priced(problem, vehicle, other, place),
                    .from = priced(problem, vehicle, place, other)};
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
  if (!task.is_shipment && !job_has_room()) { return false; }
  is_unused_ = route.num_stops() == 0;
  unused_cost_ = is_unused_ ? vehicle_->fixed : 0;
  has_limits_ = vehicle_->max_travel_time < kForever || vehicle_->max_distance < kForever;
  first_.begin(problem, table, route, task.stops[0].place);
  if (task.is_shipment) {
    second_.begin(problem, table, route, task.stops[1].place);
    between_ = priced(problem, *vehicle_, task.stops[0].place, task.stops[1].place);
  }
  return true;
}

/// Whether any gap has room: none has more than the first leg for deliveries, and than the last for
/// pickups.
bool Places::job_has_room() const {
  const std::size_t amounts = index(problem_->num_amounts);
  const std::size_t last = (route_->num_gaps() - 1) * amounts;
  for (std::size_t d = 0; d < amounts; ++d) {
    if (route_->room_before[d] < task_->delivery[d] ||
        route_->room_after[last + d] < task_->pickup[d]) {
      return false;
    }
  }
  return true;
}

/// The leg to the next visit is not driven any more; that of an empty route never was.
void Places::spare(const Visit& next, Detour& detour) const {
  if (is_unused_) { return; }
  detour.seconds -= next.in.seconds;
  detour.metres -= next.in.metres;
}

/// What the stops of the task cost by the hour, from the first in a gap to the last in it.
Money Places::added_work(std::size_t k, const Stop& first, const Stop& last) const {
  std::int64_t work = problem_->work(*vehicle_, first, route_->visits[k].place);
  if (&first != &last) { work += problem_->work(*vehicle_, last, first.place); }
  work += work_after(k + 1, last.place) - route_->visits[k + 1].work;
  return work_cost(*vehicle_, work);
}

Detour Places::detour(std::size_t k, const Ways& ways) const {
  const PricedLeg& to = ways.to(k);
  const PricedLeg& from = ways.from(k + 1);
  Detour detour{.seconds = std::int64_t{to.seconds} + from.seconds,
                .metres = std::int64_t{to.metres} + from.metres};
  spare(route_->visits[k + 1], detour);
  return detour;
}

Money Places::added_together(std::size_t k) const {
  const Money cost = first_.to(k).cost + between_.cost + second_.from(k + 1).cost + unused_cost_ -
                     (is_unused_ ? 0 : route_->visits[k + 1].in_cost);
  return vehicle_->per_task_hour == 0 ? cost
                                      : cost + added_work(k, task_->stops[0], task_->stops[1]);
}

Detour Places::detour_together(std::size_t k) const {
  const PricedLeg& to = first_.to(k);
  const PricedLeg& from = second_.from(k + 1);
  Detour detour{.seconds = std::int64_t{to.seconds} + between_.seconds + from.seconds,
                .metres = std::int64_t{to.metres} + between_.metres + from.metres};
  spare(route_->visits[k + 1], detour);
  return detour;
}

Detour Places::detour_apart(std::size_t k, std::size_t j) const {
  const Detour first = detour(k, first_);
  const Detour second = detour(j, second_);
  return {.seconds = first.seconds + second.seconds, .metres = first.metres + second.metres};
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
