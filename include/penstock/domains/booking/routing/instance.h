#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "penstock/domains/booking/routing/cost_unit.h"

namespace penstock::booking {

/// Whole metres and whole seconds since midnight: cost and feasibility are free of floating point.
using Metres = std::int32_t;
using Seconds = std::int32_t;
/// A sum of metres (or of whatever unit an instance's distances have).
using Cost = std::int64_t;

/// When service may begin, both ends allowed.
struct Window {
  Seconds earliest = 0;
  Seconds latest = 0;
  bool operator==(const Window&) const = default;
};

/// ride: a request is a pickup and a drop-off by the same vehicle. deliver: it is one stop.
enum class Mode : std::uint8_t { ride, deliver };
/// "ride" or "deliver", as config keys and files spell them.
inline const char* to_string(Mode mode) { return mode == Mode::ride ? "ride" : "deliver"; }

/// A place to be served. Service begins inside the window; a vehicle that is early waits.
struct Node {
  Window window;
  Seconds service = 0;
  std::int32_t load = 0;  // ride: taken on (> 0) or put down (< 0); deliver: what the stop needs
};

/// For pictures and observations only.
struct Point {
  double x = 0;  // metres
  double y = 0;
};

/// A routing problem. Node 0 is the depot, whose window is the working day. Request r has the nodes
/// 1 + 2r (pickup) and 2 + 2r (drop-off) in ride mode, 1 + r in deliver mode.
///
///     const std::int32_t pickup = instance.first_node(3);       // of request 3
///     const Seconds drive = instance.duration_of(0, pickup);   // from the depot
///
/// A plain value; nothing checks it. Parsers and generators make good ones.
struct Instance {
  std::string name;
  Mode mode = Mode::ride;
  std::int32_t vehicles = 5;  // all alike
  std::int32_t capacity = 4;
  Seconds max_ride = 0;  // from the end of service at the pickup to the drop-off; 0: no limit
  std::vector<Node> nodes;
  std::vector<Point> points;      // [nodes], or empty
  std::vector<Metres> distance;   // [nodes, nodes], from row to column; need not be symmetric
  std::vector<Seconds> duration;  // [nodes, nodes]
  // What a way over a third node may save against the direct distance: searches leave out what this
  // rules out. At first what is true of all matrices; whoever knows better says so.
  Metres shortcut = std::numeric_limits<Metres>::max();
  CostUnit unit = CostUnit::metres;  // of `distance`

  [[nodiscard]] std::size_t num_nodes() const { return nodes.size(); }
  [[nodiscard]] std::int32_t stops_per_request() const { return mode == Mode::ride ? 2 : 1; }
  [[nodiscard]] std::int32_t num_requests() const {
    return (static_cast<std::int32_t>(nodes.size()) - 1) / stops_per_request();
  }
  [[nodiscard]] std::int32_t first_node(std::int32_t request) const {
    return 1 + stops_per_request() * request;
  }
  [[nodiscard]] std::int32_t request_of(std::int32_t node) const {
    return (node - 1) / stops_per_request();
  }
  [[nodiscard]] Metres distance_of(std::int32_t from, std::int32_t to) const {
    return distance[from * nodes.size() + to];
  }
  [[nodiscard]] Seconds duration_of(std::int32_t from, std::int32_t to) const {
    return duration[from * nodes.size() + to];
  }
};

/// One route per vehicle, each the nodes in the order they are served, without the depot. A route
/// that is empty costs nothing.
struct Plan {
  std::vector<std::vector<std::int32_t>> routes;
  bool operator==(const Plan&) const = default;
};

}  // namespace penstock::booking
