#include "penstock/domains/booking/dispatch/convert.h"

#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/dispatch/index.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

Stop stop_at(const Instance& instance, std::int32_t node, std::int32_t request) {
  const Node& from = instance.nodes[index(node)];
  Stop stop{.id = {.text = fmt::format("{}", request + 1), .is_number = true},
            .place = node,
            .service = from.service};
  stop.windows.push_back({.earliest = from.window.earliest, .latest = from.window.latest});
  return stop;
}

Task task_of_request(const Instance& instance, std::int32_t request) {
  const std::int32_t node = instance.first_node(request);
  Task task{.is_shipment = instance.mode == Mode::ride};
  task.stops[0] = stop_at(instance, node, request);
  if (task.is_shipment) {
    task.stops[1] = stop_at(instance, node + 1, request);
    task.pickup[0] = instance.nodes[index(node)].load;
    task.max_ride = instance.max_ride;
  } else {
    task.delivery[0] = instance.nodes[index(node)].load;
  }
  return task;
}

bool begins_with_numbers(std::string_view line, std::size_t most) {
  std::size_t count = 0;
  bool inside = false;
  for (const char c : line) {
    const bool digit = (c >= '0' && c <= '9') || c == '.' || c == '-';
    if (!digit && c != ' ' && c != '\t' && c != '\r') { return false; }
    count += digit && !inside ? 1 : 0;
    inside = digit;
  }
  return count > 0 && count <= most;
}

}  // namespace

Problem problem_of(const Instance& instance) {
  Problem problem{.num_amounts = 1, .degrees = false};
  Profile& profile = problem.profiles[0];
  profile.rows = ordinal(instance.num_nodes());
  profile.seconds = instance.duration;
  profile.costs = instance.distance;
  if (instance.unit == CostUnit::metres) { profile.metres = instance.distance; }
  for (std::size_t n = 0; n < instance.num_nodes(); ++n) {
    Place place;
    if (!instance.points.empty()) {
      place = place_in_metres(instance.points[n].x, instance.points[n].y);
    }
    place.row = ordinal(n);
    problem.places.push_back(place);
  }
  const Node& depot = instance.nodes[0];
  for (std::int32_t v = 0; v < instance.vehicles; ++v) {
    Vehicle vehicle{.id = {.text = fmt::format("{}", v + 1), .is_number = true},
                    .start = 0,
                    .end = 0,
                    .shift = {.earliest = depot.window.earliest, .latest = depot.window.latest}};
    vehicle.capacity[0] = instance.capacity;
    problem.vehicles.push_back(std::move(vehicle));
  }
  for (std::int32_t r = 0; r < instance.num_requests(); ++r) {
    problem.tasks.push_back(task_of_request(instance, r));
  }
  return problem;
}

Problem read_any(std::string_view text, const std::string& name, Convention convention) {
  const std::string_view body = trimmed(text);
  if (body.starts_with('{')) { return read_problem(text, name); }
  const auto has = [&](std::string_view word) { return text.find(word) != text.npos; };
  if (has("DIMENSION") && has("_SECTION")) {
    const bool matrix = has("EXPLICIT");
    return problem_of(parse_vrplib(text, name, matrix ? Convention::ortec : convention).instance);
  }
  if (has("VEHICLE") && has("CUSTOMER")) {
    return problem_of(parse_solomon(text, name, convention).instance);
  }
  const std::string_view line = body.substr(0, body.find('\n'));
  if (begins_with_numbers(line, 3)) {
    return problem_of(parse_lilim(text, name, convention).instance);
  }
  if (begins_with_numbers(line, 5)) {
    return problem_of(parse_cordeau(text, name, convention).instance);
  }
  throw DataError(fmt::format(
      "{}: neither JSON nor Solomon, Li & Lim, Cordeau or VRPLIB; a list of bookings needs --fleet",
      name));
}

}  // namespace penstock::booking::dispatch
