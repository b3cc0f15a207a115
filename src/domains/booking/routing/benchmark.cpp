#include "domains/booking/routing/benchmark.h"

#include <fmt/format.h>

#include <cmath>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

/// Four of them can be added without overflow.
constexpr double kMostUnits = 500'000'000;

struct Arc {
  double distance;
  double duration;
};

Arc arc_of(Point from, Point to, Convention convention) {
  const double dx = from.x - to.x;
  const double dy = from.y - to.y;
  const double scale = units_of(convention);
  // The root of a scaled square: exact wherever the coordinates and the distance are whole.
  const double exact = std::sqrt(scale * scale * (dx * dx + dy * dy));
  const double cut = std::floor(exact);
  return {convention == Convention::dimacs ? cut : std::round(exact), cut};
}

}  // namespace

std::int32_t units_of(Convention convention) {
  switch (convention) {
    case Convention::dimacs:
      return 10;
    case Convention::sintef:
      return 10000;
    case Convention::ortec:
      break;
  }
  return 1;
}

std::int32_t to_units(double value, std::int32_t scale, const Scanner& at, std::string_view what) {
  const double scaled = std::round(value * scale);
  if (!(std::abs(scaled) <= kMostUnits)) {
    at.fail(fmt::format("{} {} is too large: at most {}", what, value, kMostUnits / scale));
  }
  return static_cast<std::int32_t>(scaled);
}

Node node_from(const FileNode& from, std::int32_t scale, const Scanner& at) {
  if (from.load != std::floor(from.load)) {
    at.fail(fmt::format("the load {} is not a whole number", from.load));
  }
  if (from.latest < from.earliest) {
    at.fail(
        fmt::format("the window ends at {}, before it begins at {}", from.latest, from.earliest));
  }
  if (from.service < 0) { at.fail(fmt::format("the service time {} is negative", from.service)); }
  return {.window = {.earliest = to_units(from.earliest, scale, at, "the earliest time"),
                     .latest = to_units(from.latest, scale, at, "the latest time")},
          .service = to_units(from.service, scale, at, "the service time"),
          .load = to_units(from.load, 1, at, "the load")};
}

void require_euclidean(Convention convention, const Scanner& at) {
  if (convention == Convention::ortec) {
    at.fail(
        "coordinates have no cost in ORTEC's convention, which takes the file's own matrix: choose "
        "dimacs or sintef");
  }
}

void fill_euclidean(Convention convention, Instance& instance, const Scanner& at) {
  require_euclidean(convention, at);
  const std::size_t nodes = instance.num_nodes();
  if (nodes > kMostNodes) {
    at.fail(fmt::format("{} nodes: at most {} are read", nodes, kMostNodes));
  }
  instance.distance.resize(nodes * nodes);
  instance.duration.resize(nodes * nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    for (std::size_t k = 0; k < nodes; ++k) {
      const Arc arc = arc_of(instance.points[i], instance.points[k], convention);
      instance.distance[i * nodes + k] = to_units(arc.distance, 1, at, "the distance");
      instance.duration[i * nodes + k] = to_units(arc.duration, 1, at, "the duration");
    }
  }
}

}  // namespace penstock::booking
