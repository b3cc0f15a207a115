#include "penstock/domains/booking/routing/checker.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace penstock::booking {
namespace {

using Complaint = std::optional<Violation>;
using Kind = Violation::Kind;

Complaint find_bad_node(const Instance& instance, const Plan& plan) {
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    for (const std::int32_t node : plan.routes[v]) {
      if (node < 1 || node >= std::ssize(instance.nodes)) {
        return Violation{.kind = Kind::unknown_node, .vehicle = v, .node = node};
      }
    }
  }
  return {};
}

/// Each node of each request once, no other node at all.
Complaint find_wrong_count(const Instance& instance, const Plan& plan,
                           std::span<const std::int32_t> requests) {
  std::vector<int> visits(instance.nodes.size(), 0);
  for (const auto& route : plan.routes) {
    for (const std::int32_t node : route) { ++visits[node]; }
  }
  for (const std::int32_t request : requests) {
    for (std::int32_t k = 0; k < instance.stops_per_request(); ++k) {
      const std::int32_t node = instance.first_node(request) + k;
      const int count = --visits[node];
      if (count != 0) { return Violation{.kind = Kind::visits, .node = node, .value = count + 1}; }
    }
  }
  for (std::int32_t node = 1; node < std::ssize(visits); ++node) {
    if (visits[node] != 0) { return Violation{.kind = Kind::not_asked_for, .node = node}; }
  }
  return {};
}

Complaint find_unpaired(const Instance& instance, const std::vector<std::int32_t>& route,
                        std::size_t vehicle) {
  if (instance.mode != Mode::ride) { return {}; }
  for (auto at = route.begin(); at != route.end(); ++at) {
    const bool is_pickup = *at % 2 == 1;
    if (is_pickup && std::find(at, route.end(), *at + 1) == route.end()) {
      return Violation{.kind = Kind::no_drop_off, .vehicle = vehicle, .node = *at};
    }
    if (!is_pickup && std::find(route.begin(), at, *at - 1) == at) {
      return Violation{.kind = Kind::no_pickup, .vehicle = vehicle, .node = *at};
    }
  }
  return {};
}

Complaint find_overload(const Instance& instance, const std::vector<std::int32_t>& route,
                        std::size_t vehicle) {
  std::int64_t load = 0;
  for (const std::int32_t node : route) {
    load += instance.nodes[node].load;
    if (load > instance.capacity) {
      return Violation{Kind::load, vehicle, node, load, instance.capacity};
    }
  }
  return {};
}

/// The earliest starts of a route; a window that cannot be kept.
Complaint find_lateness(const Instance& instance, const std::vector<std::int32_t>& route,
                        std::size_t vehicle) {
  std::int64_t clock = instance.nodes[0].window.earliest;
  std::int32_t here = 0;
  for (const std::int32_t node : route) {
    const Node& stop = instance.nodes[node];
    clock = std::max<std::int64_t>(clock + instance.duration_of(here, node), stop.window.earliest);
    if (clock > stop.window.latest) {
      return Violation{Kind::window, vehicle, node, clock, stop.window.latest};
    }
    clock += stop.service;
    here = node;
  }
  clock += instance.duration_of(here, 0);
  if (!route.empty() && clock > instance.nodes[0].window.latest) {
    return Violation{Kind::day, vehicle, 0, clock, instance.nodes[0].window.latest};
  }
  return {};
}

/// "start[to] is at most start[from] + most."
struct Bound {
  std::size_t from;
  std::size_t to;
  std::int64_t most;
};

/// The ride times ask for a schedule, not for the earliest one: a system of differences, solved
/// by lowering latest starts until all hold (Bellman-Ford) or a start falls below its window.
Complaint find_long_ride(const Instance& instance, const std::vector<std::int32_t>& route,
                         std::size_t vehicle) {
  if (instance.max_ride == 0 || instance.mode != Mode::ride || route.empty()) { return {}; }
  std::vector<std::int64_t> start(route.size());
  std::vector<std::int64_t> earliest(route.size());
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < route.size(); ++i) {
    const Node& stop = instance.nodes[route[i]];
    start[i] = stop.window.latest;
    earliest[i] = stop.window.earliest;
    if (i + 1 < route.size()) {
      bounds.push_back({i + 1, i, -(stop.service + instance.duration_of(route[i], route[i + 1]))});
    }
    const auto drop = std::find(route.begin(), route.end(), route[i] + 1);
    if (route[i] % 2 == 1) {
      bounds.push_back({i, static_cast<std::size_t>(drop - route.begin()),
                        std::int64_t{stop.service} + instance.max_ride});
    }
  }
  earliest.front() = std::max<std::int64_t>(
      earliest.front(), instance.nodes[0].window.earliest + instance.duration_of(0, route.front()));
  start.back() = std::min<std::int64_t>(start.back(), instance.nodes[0].window.latest -
                                                          instance.duration_of(route.back(), 0) -
                                                          instance.nodes[route.back()].service);
  for (bool lowered = true; lowered;) {
    lowered = false;
    for (const Bound& bound : bounds) {
      const std::int64_t most = start[bound.from] + bound.most;
      if (start[bound.to] <= most) { continue; }
      start[bound.to] = most;
      lowered = true;
      if (most < earliest[bound.to]) {
        return Violation{.kind = Kind::ride,
                         .vehicle = vehicle,
                         .node = route[bound.to],
                         .limit = instance.max_ride};
      }
    }
  }
  return {};
}

std::string words_of(const Instance& instance, const Violation& bad) {
  switch (bad.kind) {
    case Kind::routes:
      return fmt::format("{} routes for {} vehicles", bad.value, bad.limit);
    case Kind::unknown_node:
      return fmt::format("vehicle {} visits node {}, which the instance does not have", bad.vehicle,
                         bad.node);
    case Kind::visits:
      return fmt::format("node {} of request {} is visited {} times", bad.node,
                         instance.request_of(bad.node), bad.value);
    case Kind::not_asked_for:
      return fmt::format("node {} is visited, but its request is not to be served", bad.node);
    case Kind::no_drop_off:
      return fmt::format("vehicle {} picks up at node {} and does not drop off after it",
                         bad.vehicle, bad.node);
    case Kind::no_pickup:
      return fmt::format("vehicle {} drops off at node {} without a pickup", bad.vehicle, bad.node);
    case Kind::load:
      return fmt::format("vehicle {} carries {} at node {}, more than {}", bad.vehicle, bad.value,
                         bad.node, bad.limit);
    case Kind::window:
      return fmt::format("vehicle {} serves node {} at {}, after {}", bad.vehicle, bad.node,
                         bad.value, bad.limit);
    case Kind::day:
      return fmt::format("vehicle {} is back at {}, after {}", bad.vehicle, bad.value, bad.limit);
    case Kind::ride:
      break;
  }
  return fmt::format("vehicle {} cannot keep every ride within {} s: node {}", bad.vehicle,
                     bad.limit, bad.node);
}

}  // namespace

std::optional<std::string> find_violation(const Instance& instance, const Plan& plan,
                                          std::span<const std::int32_t> requests) {
  const auto bad = check_plan(instance, plan, requests);
  return bad ? std::optional(words_of(instance, *bad)) : std::nullopt;
}

std::optional<Violation> check_plan(const Instance& instance, const Plan& plan,
                                    std::span<const std::int32_t> requests) {
  if (std::ssize(plan.routes) > instance.vehicles) {
    return Violation{
        .kind = Kind::routes, .value = std::ssize(plan.routes), .limit = instance.vehicles};
  }
  if (auto bad = find_bad_node(instance, plan)) { return bad; }
  if (auto bad = find_wrong_count(instance, plan, requests)) { return bad; }
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    for (const auto find : {find_unpaired, find_overload, find_lateness, find_long_ride}) {
      if (auto bad = find(instance, plan.routes[v], v)) { return bad; }
    }
  }
  return {};
}

Cost cost_of(const Instance& instance, const Plan& plan) {
  Cost total = 0;
  for (const auto& route : plan.routes) {
    std::int32_t here = 0;
    for (const std::int32_t node : route) {
      total += instance.distance_of(here, node);
      here = node;
    }
    if (!route.empty()) { total += instance.distance_of(here, 0); }
  }
  return total;
}

}  // namespace penstock::booking
