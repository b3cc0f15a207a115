#include "domains/booking/offer/starts.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

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

namespace {

/// A route's starts while they are put off. Constraints between two starts that leave no room are
/// tight: who moves one moves the other.
class Delays {
 public:
  Delays(const Instance& instance, std::span<const Node> nodes, std::span<const std::int32_t> route)
      : instance_(instance),
        nodes_(nodes),
        route_(route),
        starts_(starts_of(instance, nodes, route)),
        drops_(drops_of(instance, route)),
        pickups_(route.size()),
        moves_(route.size()) {
    std::iota(pickups_.begin(), pickups_.end(), std::size_t{0});
    for (std::size_t i = 0; i < route.size(); ++i) {
      if (drops_[i] != i) { pickups_[drops_[i]] = i; }
    }
  }

  /// Puts stops off as long as that shortens rides, or the way from the depot and back while rides
  /// stay. The smallest sets come first: what follows a stop without a wait must go with it, and
  /// nothing else needs to.
  std::vector<Seconds> settle() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = route_.size(); i-- > 0;) {
        while (put_off(i)) { moved = true; }
      }
    }
    return std::move(starts_);
  }

 private:
  [[nodiscard]] const Node& node(std::size_t i) const { return nodes_[route_[i]]; }
  [[nodiscard]] bool is_last(std::size_t i) const { return i + 1 == route_.size(); }
  [[nodiscard]] bool is_drop(std::size_t i) const { return pickups_[i] != i; }

  /// How long the vehicle waits before the next stop, or for the end of the day.
  [[nodiscard]] Seconds wait_after(std::size_t i) const {
    const Seconds next = is_last(i) ? nodes_[0].window.latest : starts_[i + 1];
    return next - starts_[i] - node(i).service -
           instance_.duration_of(route_[i], is_last(i) ? 0 : route_[i + 1]);
  }
  /// How much longer the ride to a drop-off may be.
  [[nodiscard]] Seconds ride_left(std::size_t drop) const {
    const std::size_t up = pickups_[drop];
    return instance_.max_ride - (starts_[drop] - starts_[up] - node(up).service);
  }
  [[nodiscard]] bool is_limited(std::size_t i) const {
    return instance_.max_ride > 0 && is_drop(i);
  }

  /// What a second's delay of a stop is worth: seconds of rides count twice, and so before those
  /// of the vehicle.
  [[nodiscard]] int worth(std::size_t i) const {
    const int ride = is_drop(i) ? -2 : (drops_[i] != i ? 2 : 0);
    return ride + (i == 0 ? 1 : 0) - (is_last(i) ? 1 : 0);
  }

  /// Marks the stop and all that go with it; what that is worth.
  int mark(std::size_t first) {
    std::fill(moves_.begin(), moves_.end(), false);
    open_.assign(1, first);
    int sum = 0;
    while (!open_.empty()) {
      const std::size_t i = open_.back();
      open_.pop_back();
      if (moves_[i]) { continue; }
      moves_[i] = true;
      sum += worth(i);
      if (!is_last(i) && wait_after(i) == 0) { open_.push_back(i + 1); }
      if (is_limited(i) && ride_left(i) == 0) { open_.push_back(pickups_[i]); }
    }
    return sum;
  }

  /// How far the marked may go.
  [[nodiscard]] Seconds room() const {
    Seconds most = std::numeric_limits<Seconds>::max();
    for (std::size_t i = 0; i < route_.size(); ++i) {
      if (!moves_[i]) { continue; }
      most = std::min(most, node(i).window.latest - starts_[i]);
      if (is_last(i) || !moves_[i + 1]) { most = std::min(most, wait_after(i)); }
      if (is_limited(i) && !moves_[pickups_[i]]) { most = std::min(most, ride_left(i)); }
    }
    return most;
  }

  bool put_off(std::size_t first) {
    if (mark(first) <= 0) { return false; }
    const Seconds most = room();
    if (most <= 0) { return false; }
    for (std::size_t i = 0; i < route_.size(); ++i) { starts_[i] += moves_[i] ? most : 0; }
    return true;
  }

  const Instance& instance_;
  std::span<const Node> nodes_;
  std::span<const std::int32_t> route_;
  std::vector<Seconds> starts_;
  std::vector<std::size_t> drops_;    // of pickups; of others themselves
  std::vector<std::size_t> pickups_;  // of drop-offs; of others themselves
  std::vector<char> moves_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::vector<Seconds> late_starts_of(const Instance& instance, std::span<const Node> nodes,
                                    std::span<const std::int32_t> route) {
  return Delays(instance, nodes, route).settle();
}

std::int64_t ride_seconds(const Instance& instance, std::span<const std::int32_t> route,
                          std::span<const Seconds> starts) {
  std::int64_t sum = 0;
  if (instance.mode != Mode::ride) { return sum; }
  for (std::size_t i = 0; i < route.size(); ++i) {
    const bool is_pickup = route[i] % 2 == 1;
    sum += is_pickup ? -(starts[i] + instance.nodes[route[i]].service) : starts[i];
  }
  return sum;
}

bool keeps_promises(const Instance& instance, std::span<const Node> nodes,
                    std::span<const std::int32_t> route) {
  if (route.empty()) { return true; }
  const std::vector<std::int64_t> starts = earliest_starts(instance, nodes, route);
  const auto end = [&](std::size_t i) { return starts[i] + nodes[route[i]].service; };
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (starts[i] > nodes[route[i]].window.latest) { return false; }
  }
  const std::size_t last = route.size() - 1;
  if (end(last) + instance.duration_of(route[last], 0) > nodes[0].window.latest) { return false; }
  if (instance.max_ride == 0 || instance.mode != Mode::ride) { return true; }
  const std::vector<std::size_t> drops = drops_of(instance, route);
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (drops[i] != i && starts[drops[i]] - end(i) > instance.max_ride) { return false; }
  }
  return true;
}

}  // namespace penstock::booking
