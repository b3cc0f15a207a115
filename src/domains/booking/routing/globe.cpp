#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <vector>

#include "penstock/domains/booking/routing/roads.h"

namespace penstock::booking {
namespace {

constexpr double kGlobeRadius = 6'371'000;  // metres, the mean

double in_radians(double degrees) { return degrees * std::numbers::pi / 180; }

/// A place as a unit vector from the middle of the globe.
struct UnitVector {
  double x = 0;
  double y = 0;
  double z = 0;
};

UnitVector unit_vector(Point degrees) {
  const double lon = in_radians(degrees.x);
  const double lat = in_radians(degrees.y);
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

/// The great circle's length, which is what the haversine formula gives.
double great_circle(const UnitVector& a, const UnitVector& b) {
  const double dx = a.x - b.x;
  const double dy = a.y - b.y;
  const double dz = a.z - b.z;
  const double half_chord = std::sqrt(dx * dx + dy * dy + dz * dz) / 2;
  return 2 * kGlobeRadius * std::asin(std::fmin(1, half_chord));
}

}  // namespace

Point lay_flat(Point degrees, Point middle) {
  const double width = kGlobeRadius * std::cos(in_radians(middle.y));
  return {.x = width * in_radians(degrees.x - middle.x),
          .y = kGlobeRadius * in_radians(degrees.y - middle.y)};
}

bool look_like_degrees(std::span<const Point> metres) {
  constexpr double kFewMetres = 20;
  const auto [west, east] = std::ranges::minmax(metres, {}, &Point::x);
  const auto [south, north] = std::ranges::minmax(metres, {}, &Point::y);
  const bool near = std::max(east.x - west.x, north.y - south.y) < kFewMetres;
  const bool on_globe = std::ranges::all_of(metres, [](const Point& point) {
    return std::abs(point.x) <= 180 && std::abs(point.y) <= 90;
  });
  const bool whole = std::ranges::all_of(metres, [](const Point& point) {
    return point.x == std::floor(point.x) && point.y == std::floor(point.y);
  });
  return near && on_globe && !whole;
}

void fill_from_degrees(const Roads& roads, std::span<const Point> degrees, Instance& instance) {
  const std::size_t nodes = degrees.size();
  thread_local std::vector<UnitVector> at;
  at.clear();
  std::ranges::transform(degrees, std::back_inserter(at), unit_vector);
  instance.distance.resize(nodes * nodes);
  instance.duration.resize(nodes * nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t k = 0; k <= i; ++k) {
      const double metres = roads.circuity * great_circle(at[i], at[k]);
      const auto distance = static_cast<Metres>(std::lround(metres));
      const auto duration = static_cast<Seconds>(std::lround(metres / roads.metres_per_second));
      instance.distance[i * nodes + k] = instance.distance[k * nodes + i] = distance;
      instance.duration[i * nodes + k] = instance.duration[k * nodes + i] = duration;
    }
  }
  instance.shortcut = 2;  // three distances are each half a metre off by rounding
}

}  // namespace penstock::booking
