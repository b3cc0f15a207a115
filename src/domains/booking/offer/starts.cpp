#include "domains/booking/offer/starts.h"

#include <algorithm>
#include <vector>

#include "penstock/domains/booking/offer/offer.h"

namespace penstock::booking {
namespace {

/// For each pickup of a route the position of its drop-off; for others their own.
std::vector<std::size_t> drops_of(const Instance& instance, std::span<const std::int32_t> route) {
  std::vector<std::size_t> drops(route.size());
  std::vector<std::size_t> position(instance.num_nodes() + 1);
  for (std::size_t i = 0; i < route.size(); ++i) { position[route[i]] = i; }
  for (std::size_t i = 0; i < route.size(); ++i) {
    const bool is_pickup = instance.mode == Mode::ride && route[i] % 2 == 1;
    drops[i] = is_pickup ? position[route[i] + 1] : i;
  }
  return drops;
}

/// The earliest starts, or where none keeps the longest ride, some that do not. 64 bits: a route
/// that keeps nothing may take for ever.
std::vector<std::int64_t> earliest_starts(const Instance& instance, std::span<const Node> nodes,
                                          std::span<const std::int32_t> route) {
  std::vector<std::int64_t> starts(route.size());
  const auto node_at = [&](std::size_t i) -> const Node& { return nodes[route[i]]; };
  for (std::size_t i = 0; i < route.size(); ++i) { starts[i] = node_at(i).window.earliest; }
  const bool limited = instance.max_ride > 0 && instance.mode == Mode::ride;
  const auto drops = limited ? drops_of(instance, route) : std::vector<std::size_t>{};
  bool moved = true;
  const auto at_least = [&](std::size_t i, std::int64_t start) {
    moved = moved || start > starts[i];
    starts[i] = std::max(starts[i], start);
  };
  // Starts only rise; when no ride is too long any more, they are the earliest that keep
  // everything. A feasible route settles within as many rounds as it has stops.
  for (std::size_t round = 0; moved && round <= route.size(); ++round) {
    moved = false;
    for (std::size_t i = 0; i < route.size(); ++i) {
      const std::int64_t leave =
          i == 0 ? nodes[0].window.earliest : starts[i - 1] + node_at(i - 1).service;
      at_least(i, leave + instance.duration_of(i == 0 ? 0 : route[i - 1], route[i]));
    }
    for (std::size_t i = 0; i < drops.size(); ++i) {
      if (drops[i] == i) { continue; }
      at_least(i, starts[drops[i]] - instance.max_ride - node_at(i).service);
    }
    if (!limited) { break; }
  }
  return starts;
}

}  // namespace

std::vector<Seconds> starts_of(const Instance& instance, std::span<const Node> nodes,
                               std::span<const std::int32_t> route) {
  const std::vector<std::int64_t> starts = earliest_starts(instance, nodes, route);
  return {starts.begin(), starts.end()};
}

bool keeps_promises(const Instance& instance, std::span<const std::int32_t> route) {
  if (route.empty()) { return true; }
  const std::vector<std::int64_t> starts = earliest_starts(instance, instance.nodes, route);
  const auto end = [&](std::size_t i) { return starts[i] + instance.nodes[route[i]].service; };
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (starts[i] > instance.nodes[route[i]].window.latest) { return false; }
  }
  const std::size_t last = route.size() - 1;
  if (end(last) + instance.duration_of(route[last], 0) > instance.nodes[0].window.latest) {
    return false;
  }
  if (instance.max_ride == 0 || instance.mode != Mode::ride) { return true; }
  const std::vector<std::size_t> drops = drops_of(instance, route);
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (drops[i] != i && starts[drops[i]] - end(i) > instance.max_ride) { return false; }
  }
  return true;
}

}  // namespace penstock::booking
