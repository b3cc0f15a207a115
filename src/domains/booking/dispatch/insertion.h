#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "domains/booking/dispatch/parts.h"

namespace penstock::booking::dispatch {

/// A leg with what it costs a vehicle.
struct PricedLeg {
  std::int32_t seconds = 0;
  std::int32_t metres = 0;
  Money cost = 0;
};

/// All legs between places, as one kind of vehicle drives them. A search asks for those from and
/// to one place at a time: both are rows, so that they stay in the cache. The place -1, nowhere,
/// has a row and a column too, before all others.
struct LegTable {
  std::size_t width = 0;        // places + 1
  std::vector<PricedLeg> from;  // [width, width]
  std::vector<PricedLeg> to;    // the same, to the place of the row
};
LegTable make_table(const Problem& problem, const Vehicle& vehicle);

/// The ways between a stop and the visits of a route: of a table, or computed once for all gaps.
class Ways {
 public:
  void begin(const Problem& problem, const LegTable* table, const Route& route, std::int32_t place);
  /// From a visit to the stop.
  [[nodiscard]] const PricedLeg& to(std::size_t visit) const {
    return to_ != nullptr ? to_[visits_[visit].place] : computed_[visit].to;
  }
  /// From the stop to a visit.
  [[nodiscard]] const PricedLeg& from(std::size_t visit) const {
    return to_ != nullptr ? from_[visits_[visit].place] : computed_[visit].from;
  }

 private:
  struct Way {
    PricedLeg to;
    PricedLeg from;
  };
  const PricedLeg* to_ = nullptr;  // by place
  const PricedLeg* from_ = nullptr;
  const Visit* visits_ = nullptr;
  std::vector<Way> computed_;  // by visit, without a table
};

/// What an insertion adds to a route beside money.
struct Detour {
  Money cost = 0;
  std::int64_t seconds = 0;
  std::int64_t metres = 0;
};

/// Looks for places of one task in one route. All checks of a place take constant time, but those
/// of a longest ride. Nothing is allocated once the memory here has the size of the longest route.
class Places {
 public:
  /// Prepares for a task in a route, both of which must live on. False when no place can fit:
  /// skills, the number of tasks, an infeasible route.
  bool begin(const Problem& problem, const Route& route, std::int32_t task,
             const LegTable* table = nullptr);

  /// Calls `use(placement, earliest start, latest start)` for every place of a job whose detour
  /// `worth(cost)` accepts: starts are of its work, its own windows aside. Places where it cannot
  /// begin inside `span` are left out.
  template <class Worth, class Use>
  void each_of_job(TimeWindow span, Worth worth, Use use) const;

  /// The same of a shipment, its stops at times of these windows; `use(placement, pickup's start,
  /// delivery's start)`, the earliest.
  /// Pickups whose own detour is too dear for `worth_pickup(cost)` are left out.
  template <class WorthPickup, class Worth, class Use>
  void each_of_shipment(const TimeWindows& pickup, const TimeWindows& delivery,
                        WorthPickup worth_pickup, Worth worth, Use use) const;

  /// Whether the longest rides hold with the task at this place, its windows as the problem has
  /// them. Takes time proportional to the stops, or more.
  bool rides_hold(const Placement& where);
  [[nodiscard]] bool has_limited_rides() const {
    return route_->limited_rides || task_->max_ride > 0;
  }

 private:
  [[nodiscard]] Money added(std::size_t k, const Ways& ways, const Stop& stop) const;
  [[nodiscard]] Money added_work(std::size_t k, const Stop& first, const Stop& last) const;
  [[nodiscard]] Detour detour(std::size_t k, const Ways& ways) const;
  [[nodiscard]] Money added_together(std::size_t k) const;
  [[nodiscard]] Detour detour_together(std::size_t k) const;
  [[nodiscard]] Detour detour_apart(std::size_t k, std::size_t j) const;
  void spare(const Visit& next, Detour& detour) const;
  [[nodiscard]] bool job_has_room() const;
  [[nodiscard]] bool within_limits(const Detour& detour) const;
  [[nodiscard]] bool has_room(std::size_t k) const;
  [[nodiscard]] bool carries(std::size_t leg) const;
  /// The latest start of visit k when it is driven to from this place.
  [[nodiscard]] Time latest_after(std::size_t k, std::int32_t place) const;
  [[nodiscard]] std::int32_t work_after(std::size_t k, std::int32_t place) const;

  template <class Worth, class Use>
  void each_delivery(Placement where, Time pickup_start, Money first, const TimeWindows& windows,
                     Worth& worth, Use& use) const;
  template <class Use>
  void deliver_at_once(Placement where, Time pickup_start, const TimeWindows& windows,
                       Use& use) const;
  template <class Use>
  void deliver_in_gap(Placement where, std::size_t k, Time leave, Time pickup_start,
                      const TimeWindows& windows, Use& use) const;

  const Problem* problem_ = nullptr;
  const Route* route_ = nullptr;
  const Task* task_ = nullptr;
  std::int32_t number_ = 0;  // of the task
  const Vehicle* vehicle_ = nullptr;
  bool is_unused_ = false;   // the vehicle
  Money unused_cost_ = 0;    // what sending it costs
  bool has_limits_ = false;  // of distance or driving
  Ways first_;
  Ways second_;
  PricedLeg between_;  // from pickup to delivery
  Route trial_;
  std::vector<Time> starts_;
};

inline bool Places::within_limits(const Detour& detour) const {
  return route_->seconds + detour.seconds <= vehicle_->max_travel_time &&
         route_->metres + detour.metres <= vehicle_->max_distance;
}

inline std::int32_t Places::work_after(std::size_t k, std::int32_t place) const {
  const Visit& visit = route_->visits[k];
  return visit.plain ? visit.work
                     : problem_->work(*vehicle_, stop_of(*problem_, visit.stop), place);
}

inline Time Places::latest_after(std::size_t k, std::int32_t place) const {
  const Visit& visit = route_->visits[k];
  if (visit.plain) { return visit.latest; }
  return last_inside(windows_of(*problem_, visit), visit.latest_leave - work_after(k, place));
}

inline Money Places::added(std::size_t k, const Ways& ways, const Stop& stop) const {
  const Money cost = ways.to(k).cost + ways.from(k + 1).cost + unused_cost_ -
                     (is_unused_ ? 0 : route_->visits[k + 1].in_cost);
  return vehicle_->per_task_hour == 0 ? cost : cost + added_work(k, stop, stop);
}

template <class Worth, class Use>
void Places::each_of_job(TimeWindow span, Worth worth, Use use) const {
  const Stop& stop = task_->stops[0];
  for (std::size_t k = index(route_->frozen); k < route_->num_gaps(); ++k) {
    const Visit& before = route_->visits[k];
    const Visit& next = route_->visits[k + 1];
    if (before.leave > span.latest) { break; }
    if (next.latest_leave < span.earliest) { continue; }
    const Money cost = added(k, first_, stop);
    if (!worth(cost) || !has_room(k) || (has_limits_ && !within_limits(detour(k, first_)))) {
      continue;
    }
    const std::int32_t work = problem_->work(*vehicle_, stop, before.place);
    const Time latest_next = latest_after(k + 1, stop.place);
    for (std::int32_t s = before.first_break; s <= next.first_break; ++s) {
      const Time earliest =
          arrival(*vehicle_, before.leave, first_.to(k).seconds, before.first_break, s);
      const Time latest =
          leave_by(*vehicle_, latest_next, first_.from(k + 1).seconds, s, next.first_break) - work;
      if (earliest > latest) { continue; }
      use(Placement{.vehicle = route_->vehicle, .after = ordinal(k), .breaks = s, .added = cost},
          earliest, latest);
    }
  }
}

template <class WorthPickup, class Worth, class Use>
void Places::each_of_shipment(const TimeWindows& pickup, const TimeWindows& delivery,
                              WorthPickup worth_pickup, Worth worth, Use use) const {
  const Stop& stop = task_->stops[0];
  for (std::size_t k = index(route_->frozen); k < route_->num_gaps(); ++k) {
    const Visit& before = route_->visits[k];
    if (!pickup.empty() && before.leave > pickup.back().latest) { break; }
    if (!pickup.empty() && route_->visits[k + 1].latest_leave < pickup.front().earliest) {
      continue;
    }
    const Money cost = added(k, first_, stop);
    if (!worth_pickup(cost) || !carries(k)) { continue; }
    const Time latest = before.latest_leave;
    for (std::int32_t s = before.first_break; s <= route_->visits[k + 1].first_break; ++s) {
      const Time there =
          arrival(*vehicle_, before.leave, first_.to(k).seconds, before.first_break, s);
      const Time start = first_inside(pickup, there);
      if (start >= kForever || before.leave > latest) { continue; }
      each_delivery(Placement{.vehicle = route_->vehicle, .after = ordinal(k), .breaks = s}, start,
                    cost, delivery, worth, use);
    }
  }
}

template <class Worth, class Use>
void Places::each_delivery(Placement where, Time pickup_start, Money first,
                           const TimeWindows& windows, Worth& worth, Use& use) const {
  const auto k = index(where.after);
  where.added = added_together(k);
  if (worth(where.added) && (!has_limits_ || within_limits(detour_together(k)))) {
    deliver_at_once(where, pickup_start, windows, use);
  }
  Time leave = pickup_start + problem_->work(*vehicle_, task_->stops[0], route_->visits[k].place);
  std::int32_t breaks = where.breaks;
  std::int32_t seconds = first_.from(k + 1).seconds;
  std::int32_t work = work_after(k + 1, task_->stops[0].place);
  for (std::size_t j = k + 1; j < route_->num_gaps(); ++j) {
    const Visit& visit = route_->visits[j];
    const Time there = arrival(*vehicle_, leave, seconds, breaks, visit.first_break);
    const Time start = first_inside(windows_of(*problem_, visit), there);
    const Time latest = j == k + 1 ? latest_after(j, task_->stops[0].place) : visit.latest;
    if (start > latest || !carries(j)) { return; }
    leave = start + work;
    where.added = first + added(j, second_, task_->stops[1]);
    if (worth(where.added) && (!has_limits_ || within_limits(detour_apart(k, j)))) {
      deliver_in_gap(where, j, leave, pickup_start, windows, use);
    }
    breaks = visit.first_break;
    seconds = route_->visits[j + 1].in.seconds;
    work = route_->visits[j + 1].work;
  }
}

template <class Use>
void Places::deliver_at_once(Placement where, Time pickup_start, const TimeWindows& windows,
                             Use& use) const {
  const auto k = index(where.after);
  const Visit& next = route_->visits[k + 1];
  const Stop& pickup = task_->stops[0];
  const Stop& delivery = task_->stops[1];
  const Time leave = pickup_start + problem_->work(*vehicle_, pickup, route_->visits[k].place);
  const Time latest_next = latest_after(k + 1, delivery.place);
  const std::int32_t work = problem_->work(*vehicle_, delivery, pickup.place);
  where.after_second = where.after;
  for (std::int32_t s = where.breaks; s <= next.first_break; ++s) {
    const Time there = arrival(*vehicle_, leave, between_.seconds, where.breaks, s);
    const Time start = first_inside(windows, there);
    const Time latest =
        leave_by(*vehicle_, latest_next, second_.from(k + 1).seconds, s, next.first_break) - work;
    if (start > latest) { continue; }
    where.breaks_second = s;
    use(where, pickup_start, start);
  }
}

template <class Use>
void Places::deliver_in_gap(Placement where, std::size_t k, Time leave, Time pickup_start,
                            const TimeWindows& windows, Use& use) const {
  const Visit& before = route_->visits[k];
  const Visit& next = route_->visits[k + 1];
  const Stop& delivery = task_->stops[1];
  const Time latest_next = latest_after(k + 1, delivery.place);
  const std::int32_t work = problem_->work(*vehicle_, delivery, before.place);
  where.after_second = ordinal(k);
  for (std::int32_t s = before.first_break; s <= next.first_break; ++s) {
    const Time there = arrival(*vehicle_, leave, second_.to(k).seconds, before.first_break, s);
    const Time start = first_inside(windows, there);
    const Time latest =
        leave_by(*vehicle_, latest_next, second_.from(k + 1).seconds, s, next.first_break) - work;
    if (start > latest) { continue; }
    where.breaks_second = s;
    use(where, pickup_start, start);
  }
}

}  // namespace penstock::booking::dispatch
