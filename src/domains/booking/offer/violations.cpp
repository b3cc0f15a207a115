#include "domains/booking/offer/violations.h"

#include <fmt/format.h>

namespace penstock::booking {
namespace {

/// HH:MM:SS.
std::string clock_text(std::int64_t time) {
  return fmt::format("{:02}:{:02}:{:02}", time / 3600, time / 60 % 60, time % 60);
}

/// "anna's drop-off"
std::string stop_text(const OfferQuery& query, std::int32_t node) {
  const Instance& instance = query.instance;
  const char* stop = "stop";
  if (instance.mode == Mode::ride) { stop = node % 2 == 1 ? "pickup" : "drop-off"; }
  return fmt::format("{}'s {}", query.ids[instance.request_of(node)], stop);
}

}  // namespace

std::string words_of(const OfferQuery& query, const Violation& bad) {
  using Kind = Violation::Kind;
  const std::string stop = bad.node > 0 ? stop_text(query, bad.node) : "";
  switch (bad.kind) {
    case Kind::visits:
      return fmt::format("{} is in no route; {}", stop,
                         query.instance.mode == Mode::ride
                             ? "a ride's id stands twice in the route of its vehicle"
                             : "every id stands in one route");
    case Kind::no_drop_off:
    case Kind::no_pickup:
      return fmt::format("{} is vehicle {}'s, the other end of the ride another vehicle's", stop,
                         bad.vehicle);
    case Kind::load:
      return fmt::format("vehicle {} carries {} from {} on, its capacity is {}", bad.vehicle,
                         bad.value, stop, bad.limit);
    case Kind::window:
      return fmt::format("{} is at {}, promised until {} (vehicle {})", stop, clock_text(bad.value),
                         clock_text(bad.limit), bad.vehicle);
    case Kind::day:
      return fmt::format("vehicle {} is back at {}, the depot closes at {}", bad.vehicle,
                         clock_text(bad.value), clock_text(bad.limit));
    case Kind::ride:
      return fmt::format("vehicle {} cannot keep every ride within max_ride_s = {}: {}",
                         bad.vehicle, bad.limit, stop);
    default:
      break;  // what the reader of routes cannot make
  }
  return "its routes are not those of the requests";
}

}  // namespace penstock::booking
