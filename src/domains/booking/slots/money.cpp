#include <algorithm>

#include "penstock/domains/booking/slots/day.h"

namespace penstock::booking {
namespace {

/// A sequence of stops as one: the least time from its first to its last, and when it may begin.
/// Joining two is exact (Vidal et al. 2013); the sequence must keep its windows.
struct Stretch {
  std::int64_t duration = 0;
  std::int64_t earliest = 0;  // start that keeps the duration least
  std::int64_t latest = 0;

  void append(Seconds drive, const Node& node) {
    const std::int64_t reach = duration + drive;
    const std::int64_t wait = std::max<std::int64_t>(node.window.earliest - reach - latest, 0);
    duration = reach + node.service + wait;
    earliest = std::max<std::int64_t>(node.window.earliest - reach, earliest) - wait;
    latest = std::min<std::int64_t>(node.window.latest - reach, latest);
  }
};

const Node& node_at(const Instance& instance, std::int32_t node) { return instance.nodes[node]; }

/// From the depot and back to it.
Stretch whole(const Instance& instance, std::span<const std::int32_t> nodes) {
  const Window day = instance.nodes[0].window;
  Stretch out{.duration = 0, .earliest = day.earliest, .latest = day.latest};
  std::int32_t from = 0;
  for (const std::int32_t at : nodes) {
    out.append(instance.duration_of(from, at), node_at(instance, at));
    from = at;
  }
  out.append(instance.duration_of(from, 0), instance.nodes[0]);
  return out;
}

/// Seconds aboard, when the vehicle leaves at `start` and each service begins as soon as it can.
std::int64_t aboard(const Instance& instance, std::span<const std::int32_t> nodes,
                    std::int64_t start) {
  std::int64_t sum = 0;
  std::int64_t leave = start;
  std::int32_t from = 0;
  for (const std::int32_t at : nodes) {
    const Node& node = node_at(instance, at);
    const std::int64_t begin =
        std::max<std::int64_t>(leave + instance.duration_of(from, at), node.window.earliest);
    leave = begin + node.service;
    sum += node.load > 0 ? -leave : begin;  // a drop-off begins, a pickup ends
    from = at;
  }
  return sum;
}

Cents share_of(std::int64_t amount, Cents price, std::int64_t unit) {
  return (amount * price + unit / 2) / unit;
}

}  // namespace

Seconds departure(const Instance& instance, std::span<const std::int32_t> nodes) {
  return static_cast<Seconds>(whole(instance, nodes).latest);
}

Cents route_cents(const Instance& instance, std::span<const std::int32_t> nodes,
                  const SlotPrices& prices) {
  if (nodes.empty()) { return 0; }
  constexpr std::int64_t kKm = 1000;
  constexpr std::int64_t kSecondsOfHour = 3600;
  constexpr std::int64_t kSecondsOfMinute = 60;
  const Stretch out = whole(instance, nodes);
  std::int64_t metres = 0;
  std::int32_t from = 0;
  for (const std::int32_t at : nodes) {
    metres += instance.distance_of(from, at);
    from = at;
  }
  metres += instance.distance_of(from, 0);
  const bool rides = instance.mode == Mode::ride && prices.ride_minute > 0;
  return prices.vehicle + share_of(metres, prices.km, kKm) +
         share_of(out.duration, prices.hour, kSecondsOfHour) +
         (rides
              ? share_of(aboard(instance, nodes, out.latest), prices.ride_minute, kSecondsOfMinute)
              : 0);
}

}  // namespace penstock::booking
