#pragma once
#include <algorithm>
#include <cstdint>

#include "penstock/domains/booking/routing/route_set.h"

// The templates of RouteSet: what an insertion costs, place by place. The breaks and skips hold for
// any durations that are not negative; no triangle inequality is assumed.

namespace penstock::booking {

/// Passes over no place.
struct SkipNothing {
  bool operator()() { return false; }
};

template <class Skip>
Insertion RouteSet::cheapest(std::int32_t request, const RequestWindows& windows, Skip& skip,
                             Cost below) const {
  const std::int32_t node = instance_->first_node(request);
  const bool ride = instance_->mode == Mode::ride;
  const Visit first = visit(node, windows[0]);
  const Visit second = ride ? visit(node + 1, windows[1]) : first;
  Insertion best{.added = below};
  bool tried_empty = false;  // the fleet is uniform: one empty vehicle stands for all
  for (std::int32_t vehicle = 0; vehicle < num_vehicles_; ++vehicle) {
    if (is_empty(vehicle)) {
      if (tried_empty) { continue; }
      tried_empty = true;
    }
    if (ride) {
      price_ride(vehicle, first, second, skip, best);
    } else {
      price_stop(vehicle, first, skip, best);
    }
  }
  return best.added < below ? best : Insertion{};
}

// A gap is out of the question without its durations: when the stop before it is left after the
// window has closed, every later gap is too late as well (break); when the stop after it must begin
// before this one could end, a later gap may still do (continue).
template <class Skip>
void RouteSet::price_stop(std::int32_t vehicle, const Visit& visit, Skip& skip,
                          Insertion& best) const {
  const auto& stops = routes_[vehicle].stops;
  if (stops.back().load + visit.load > instance_->capacity) { return; }
  const Metres* distance = instance_->distance.data();
  const Seconds* duration = instance_->duration.data();
  const Seconds soonest = visit.window.earliest + visit.service;
  const bool empty = stops.size() == 2;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const Stop& from = stops[i];
    const Stop& to = stops[i + 1];
    if (from.leave > visit.window.latest) { break; }
    if (to.latest < soonest) { continue; }
    const Seconds arrival = from.leave + duration[at(from.node, visit.node)];
    if (arrival > visit.window.latest) { continue; }
    const Seconds leave = std::max(arrival, visit.window.earliest) + visit.service;
    if (leave + duration[at(visit.node, to.node)] > to.latest) { continue; }
    const Cost added = Cost{distance[at(from.node, visit.node)]} +
                       distance[at(visit.node, to.node)] -
                       (empty ? 0 : distance[at(from.node, to.node)]);
    if (added < best.added && !skip()) {
      const std::int32_t place = i;
      best = {added, vehicle, place, place};
    }
  }
}

// All pairs of gaps are too many for a long route. Each pickup gap is checked by itself first, and
// dropped when its own detour, less what a shortcut could give back, is no better than the best so
// far.
template <class Skip>
void RouteSet::price_ride(std::int32_t vehicle, const Visit& pickup, const Visit& drop, Skip& skip,
                          Insertion& best) const {
  const auto& stops = routes_[vehicle].stops;
  const Metres* distance = instance_->distance.data();
  const Seconds* duration = instance_->duration.data();
  const Seconds soonest = pickup.window.earliest + pickup.service;
  const bool empty = stops.size() == 2;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    const Stop& from = stops[i];
    if (from.leave > pickup.window.latest) { break; }
    if (stops[i + 1].latest < soonest || from.load + pickup.load > instance_->capacity) {
      continue;
    }
    const Seconds arrival = from.leave + duration[at(from.node, pickup.node)];
    if (arrival > pickup.window.latest) { continue; }
    // The drop-off makes up for no more of the pickup's detour than a shortcut.
    const std::int32_t to = stops[i + 1].node;
    const Cost detour = Cost{distance[at(from.node, pickup.node)]} + distance[at(pickup.node, to)] -
                        (empty ? 0 : distance[at(from.node, to)]);
    if (detour - instance_->shortcut >= best.added) { continue; }
    const Seconds leave = std::max(arrival, pickup.window.earliest) + pickup.service;
    price_drop(vehicle, pickup, drop, i, leave, skip, best);
  }
}

// Walks on from the pickup with the clock of the changed route, so the stops in between are timed
// once for all drop-off gaps behind them. It breaks where a stop in between would be late or the
// vehicle full: that holds for all later gaps. Ride times are tested last, for places that would be
// the best: they need the whole route.
template <class Skip>
void RouteSet::price_drop(std::int32_t vehicle, const Visit& pickup, const Visit& drop,
                          std::int32_t first, Seconds leave, Skip& skip, Insertion& best) const {
  const auto& stops = routes_[vehicle].stops;
  const Metres* distance = instance_->distance.data();
  const Seconds* duration = instance_->duration.data();
  const std::size_t begin = first;
  const auto offer = [&](std::size_t j, Cost added) {
    if (added >= best.added || skip()) { return; }
    const Insertion place{added, vehicle, first, static_cast<std::int32_t>(j)};
    if (instance_->max_ride == 0 || rides_hold(vehicle, pickup, drop, place)) { best = place; }
  };
  const auto in_time = [&](Seconds from_leave, std::int32_t from, const Stop& to) {
    const Seconds arrival = from_leave + duration[at(from, drop.node)];
    if (arrival > drop.window.latest) { return false; }
    const Seconds done = std::max(arrival, drop.window.earliest) + drop.service;
    return done + duration[at(drop.node, to.node)] <= to.latest;
  };

  const std::int32_t from = stops[begin].node;
  const std::int32_t to = stops[begin + 1].node;
  const Cost before = stops.size() == 2 ? 0 : distance[at(from, to)];
  const Cost reach = distance[at(from, pickup.node)];
  if (in_time(leave, pickup.node, stops[begin + 1])) {
    offer(begin,
          reach + distance[at(pickup.node, drop.node)] + distance[at(drop.node, to)] - before);
  }
  const Cost detour = reach + distance[at(pickup.node, to)] - before;
  std::int32_t previous = pickup.node;
  for (std::size_t j = begin + 1; j + 1 < stops.size(); ++j) {
    const Stop& stop = stops[j];
    const Seconds arrival = leave + duration[at(previous, stop.node)];
    if (arrival > stop.latest || stop.load + pickup.load > instance_->capacity) { break; }
    const Node& node = instance_->nodes[stop.node];
    leave = std::max(arrival, node.window.earliest) + node.service;
    if (leave > drop.window.latest) { break; }
    previous = stop.node;
    const Stop& next = stops[j + 1];
    if (!in_time(leave, stop.node, next)) { continue; }
    offer(j, detour + distance[at(stop.node, drop.node)] + distance[at(drop.node, next.node)] -
                 distance[at(stop.node, next.node)]);
  }
}

}  // namespace penstock::booking
