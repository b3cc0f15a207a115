#include "penstock/domains/booking/routing/checker.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace penstock::booking {
namespace {

using Complaint = std::optional<std::string>;

Complaint find_bad_node(const Instance& instance, const Plan& plan) {
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    for (const std::int32_t node : plan.routes[v]) {
      if (node < 1 || node >= std::ssize(instance.nodes)) {
        return fmt::format("vehicle {} visits node {}, which the instance does not have", v, node);
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
      if (count != 0) {
        return fmt::format("node {} of request {} is visited {} times", node, request, count + 1);
      }
    }
  }
  for (std::size_t node = 1; node < visits.size(); ++node) {
    if (visits[node] != 0) {
      return fmt::format("node {} is visited, but its request is not to be served", node);
    }
  }
  return {};
}

Complaint find_unpaired(const Instance& instance, const std::vector<std::int32_t>& route,
                        std::size_t vehicle) {
  if (instance.mode != Mode::ride) { return {}; }
  for (auto at = route.begin(); at != route.end(); ++at) {
    const bool is_pickup = *at % 2 == 1;
    if (is_pickup && std::find(at, route.end(), *at + 1) == route.end()) {
      return fmt::format("vehicle {} picks up at node {} and does not drop off after it", vehicle,
                         *at);
    }
    if (!is_pickup && std::find(route.begin(), at, *at - 1) == at) {
      return fmt::format("vehicle {} drops off at node {} without a pickup", vehicle, *at);
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
      return fmt::format("vehicle {} carries {} at node {}, more than {}", vehicle, load, node,
                         instance.capacity);
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
      return fmt::format("vehicle {} serves node {} at {}, after {}", vehicle, node, clock,
                         stop.window.latest);
    }
    clock += stop.service;
    here = node;
  }
  clock += instance.duration_of(here, 0);
  if (!route.empty() && clock > instance.nodes[0].window.latest) {
    return fmt::format("vehicle {} is back at {}, after {}", vehicle, clock,
                       instance.nodes[0].window.latest);
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
        return fmt::format("vehicle {} cannot keep every ride within {} s: node {}", vehicle,
                           instance.max_ride, route[bound.to]);
      }
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> find_violation(const Instance& instance, const Plan& plan,
                                          std::span<const std::int32_t> requests) {
  if (std::ssize(plan.routes) > instance.vehicles) {
    return fmt::format("{} routes for {} vehicles", plan.routes.size(), instance.vehicles);
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
