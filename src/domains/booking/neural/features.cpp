#include "penstock/domains/booking/neural/features.h"

#include <algorithm>
#include <utility>

#include "domains/booking/neural/units.h"

namespace penstock::booking {
namespace {

constexpr float kFar = 8;  // quarters

float way(const Task& task, Metres distance) {
  return std::min(distance * task.seconds_per_metre() / kQuarter, kFar);
}

/// Seconds between the earliest end of one service and the latest start of the other.
Seconds slack(const Task& task, std::int32_t from, std::int32_t to) {
  const Node& stop = task.stop(from);
  return task.stop(to).window.latest - stop.window.earliest - stop.service -
         task.duration(from, to);
}

/// Seconds that are waited even when the first is served as late as can be.
Seconds wait(const Task& task, std::int32_t from, std::int32_t to) {
  const Node& stop = task.stop(from);
  return task.stop(to).window.earliest - stop.window.latest - stop.service -
         task.duration(from, to);
}

struct Place {
  float x = 0;
  float y = 0;
};

/// Quarters of an hour east and north of the depot, turned and mirrored.
Place place_of(const Task& task, std::int32_t token, std::int32_t flip) {
  const auto& points = task.instance().points;
  if (points.empty() || flip < 0) { return {}; }
  const Point& point = points[task.node_of(token)];
  const float scale = task.seconds_per_metre() / kQuarter;
  Place place{static_cast<float>(point.x - points[0].x) * scale,
              static_cast<float>(point.y - points[0].y) * scale};
  if ((flip & 1) != 0) { place.x = -place.x; }
  if ((flip & 2) != 0) { place.y = -place.y; }
  if ((flip & 4) != 0) { std::swap(place.x, place.y); }
  return place;
}

/// The shortest way from or to another stop that can be served before or after it.
struct Neighbours {
  float before = kFar;
  float after = kFar;
};

Neighbours neighbours_of(const Task& task, std::int32_t token) {
  Neighbours found;
  for (std::int32_t other = 1; other < task.num_tokens(); ++other) {
    if (other == token) { continue; }
    if (slack(task, other, token) >= 0) {
      found.before = std::min(found.before, way(task, task.distance(other, token)));
    }
    if (slack(task, token, other) >= 0) {
      found.after = std::min(found.after, way(task, task.distance(token, other)));
    }
  }
  return found;
}

void write_depot(const Task& task, float* out) {
  const Instance& instance = task.instance();
  out[0] = 1;
  out[20] = instance.vehicles / 5.0F;
  out[21] = task.num_requests() / 30.0F;
}

void write_stop(const Task& task, std::int32_t token, std::int32_t flip, float* out) {
  const Instance& instance = task.instance();
  const Node& stop = task.stop(token);
  const bool drop = task.rides() && !Task::is_pickup(token);
  const auto hours = [&](Seconds time) { return (time - task.origin()) / kFourHours; };
  const Place place = place_of(task, token, flip);
  const Neighbours near = neighbours_of(task, token);
  out[1] = drop ? 0.0F : 1.0F;
  out[2] = drop ? 1.0F : 0.0F;
  out[3] = task.rides() ? 1.0F : 0.0F;
  out[4] = place.x;
  out[5] = place.y;
  out[6] = instance.points.empty() || flip < 0 ? 0.0F : 1.0F;
  out[7] = hours(stop.window.earliest);
  out[8] = hours(stop.window.latest);
  out[9] = quarters(stop.window.latest - stop.window.earliest, 0, 32) / 4;
  out[10] = static_cast<float>(stop.load) / std::max(1, instance.capacity);
  out[11] = way(task, task.distance(0, token));
  out[12] = way(task, task.distance(token, 0));
  out[13] = quarters(stop.service, 0, 8);
  out[14] = near.before;
  out[15] = near.after;
  out[16] = instance.max_ride > 0 ? quarters(instance.max_ride, 0, 16) / 4 : 0.0F;
  if (task.rides()) {
    const std::int32_t partner = Task::partner(token);
    const Place other = place_of(task, partner, flip);
    out[17] = other.x;
    out[18] = other.y;
    out[19] = quarters(drop ? task.duration(partner, token) : task.duration(token, partner), 0, 8);
  }
  out[20] = instance.vehicles / 5.0F;
  out[21] = task.num_requests() / 30.0F;
}

}  // namespace

void write_nodes(const Task& task, std::int32_t flip, float* out) {
  std::fill_n(out, task.num_tokens() * kNodeFeatures, 0.0F);
  write_depot(task, out);
  for (std::int32_t token = 1; token < task.num_tokens(); ++token) {
    write_stop(task, token, flip, out + token * kNodeFeatures);
  }
}

void write_edges(const Task& task, std::int32_t token, float* out, std::size_t stride) {
  constexpr float kLow = -16;
  constexpr float kHigh = 16;
  for (std::int32_t other = 0; other < task.num_tokens(); ++other) {
    float* to = out + other;
    to[0] = quarters(task.duration(token, other), 0, kFar);
    to[stride] = quarters(task.duration(other, token), 0, kFar);
    to[2 * stride] = way(task, task.distance(token, other));
    to[3 * stride] = way(task, task.distance(other, token));
    to[4 * stride] = quarters(slack(task, token, other), kLow, kHigh) / 4;
    to[5 * stride] = quarters(slack(task, other, token), kLow, kHigh) / 4;
    to[6 * stride] = quarters(wait(task, token, other), kLow, kHigh) / 4;
    to[7 * stride] = quarters(wait(task, other, token), kLow, kHigh) / 4;
    const bool pair = task.rides() && token > 0 && other > 0 && Task::partner(token) == other;
    to[8 * stride] = pair && Task::is_pickup(token) ? 1.0F : 0.0F;
    to[9 * stride] = pair && !Task::is_pickup(token) ? 1.0F : 0.0F;
  }
}

}  // namespace penstock::booking
