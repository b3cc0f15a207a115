#include "domains/booking/env/tokens.h"

#include <algorithm>

#include "penstock/domains/booking/env/obs_writer.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kTokenWidth = ObsWriter::kTokenWidth;
constexpr float kHour = 3600;

enum Column : std::size_t {
  kDepot,
  kPromised,
  kWaiting,
  kPickupX,
  kPickupY,
  kDropX,
  kDropY,
  kPickupFrom,
  kPickupTo,
  kDropFrom,
  kDropTo,
  kPickupSlack,
  kDropSlack,
  kLoad,
  kPosition,
  kDirect,
};
// The depot's own meanings of the columns that windows and slack have otherwise.
constexpr std::size_t kToCome = kPickupFrom;
constexpr std::size_t kServed = kPickupTo;
constexpr std::size_t kUnserved = kDropFrom;
constexpr std::size_t kIdle = kDropTo;
constexpr std::size_t kMeanWay = kPickupSlack;

float ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

void write_place(const Instance& instance, std::int32_t node, double side, float* xy) {
  if (instance.points.empty()) { return; }
  const Point point = instance.points[node];
  xy[0] = ratio(point.x, side);
  xy[1] = ratio(point.y, side);
}

/// What is known of a request before it has a place in a route.
void write_request(const Instance& instance, std::int32_t request, double side, float* token) {
  const std::int32_t pickup = instance.first_node(request);
  const std::int32_t drop = pickup + instance.stops_per_request() - 1;
  write_place(instance, pickup, side, token + kPickupX);
  write_place(instance, drop, side, token + kDropX);
  const Window first = instance.nodes[pickup].window;
  const Window second = instance.nodes[drop].window;
  token[kPickupFrom] = share_of_day(instance, first.earliest);
  token[kPickupTo] = share_of_day(instance, first.latest);
  token[kDropFrom] = share_of_day(instance, second.earliest);
  token[kDropTo] = share_of_day(instance, second.latest);
  token[kDirect] = ratio(instance.distance_of(pickup, drop), side);
}

/// Slack, load and position, for every stop of a route; `row_of` tells the request's token.
template <class RowOf>
void write_route(const Instance& instance, std::span<const Stop> stops, const RowOf& row_of) {
  for (std::size_t i = 1; i + 1 < stops.size(); ++i) {
    const Stop& stop = stops[i];
    const std::int32_t request = instance.request_of(stop.node);
    float* token = row_of(request);
    const Seconds start = stop.leave - instance.nodes[stop.node].service;
    const float slack = (stop.latest - start) / kHour;
    const bool first = stop.node == instance.first_node(request);
    if (first) {
      token[kPickupSlack] = slack;
      token[kLoad] = ratio(stop.load, instance.capacity);
      token[kPosition] = ratio(i, stops.size() - 1);
    }
    if (!first || instance.mode == Mode::deliver) { token[kDropSlack] = slack; }
  }
}

void write_depot(const Booking& booking, const RouteSet& routes, double side, float* token) {
  const Instance& instance = booking.instance();
  const double all = instance.num_requests();
  token[kDepot] = 1;
  write_place(instance, 0, side, token + kPickupX);
  write_place(instance, 0, side, token + kDropX);
  token[kToCome] = ratio(instance.num_requests() - booking.request(), all);
  token[kServed] = ratio(booking.served().size(), all);
  token[kUnserved] = ratio(booking.tally().unserved, all);
  int idle = 0;
  for (std::int32_t v = 0; v < routes.num_vehicles(); ++v) { idle += routes.is_empty(v) ? 1 : 0; }
  token[kIdle] = ratio(idle, routes.num_vehicles());
  const double served = booking.served().size();
  token[kMeanWay] = ratio(booking.cost(), served * side);
}

}  // namespace

float share_of_day(const Instance& instance, Seconds time) {
  const Window day = instance.nodes[0].window;
  return static_cast<float>(time - day.earliest) / (day.latest - day.earliest);
}

void write_tokens(const Booking& booking, const RouteSet& routes, double side,
                  std::span<float> tokens) {
  const Instance& instance = booking.instance();
  const std::span<const std::int32_t> served = booking.served();
  std::ranges::fill(tokens, 0.0F);
  write_depot(booking, routes, side, tokens.data());
  for (std::size_t k = 0; k < served.size(); ++k) {
    float* token = tokens.data() + (k + 1) * kTokenWidth;
    token[kPromised] = 1;
    write_request(instance, served[k], side, token);
  }
  const auto row_of = [&](std::int32_t request) {
    // Promises come in the order of requests.
    const auto at = std::ranges::lower_bound(served, request) - served.begin();
    return tokens.data() + static_cast<std::size_t>(at + 1) * kTokenWidth;
  };
  for (std::int32_t v = 0; v < routes.num_vehicles(); ++v) {
    write_route(instance, routes.stops(v), row_of);
  }
  if (booking.over()) { return; }
  float* last = tokens.data() + tokens.size() - kTokenWidth;
  last[kWaiting] = 1;
  write_request(instance, booking.request(), side, last);
}

}  // namespace penstock::booking
