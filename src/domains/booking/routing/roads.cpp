#include "penstock/domains/booking/routing/roads.h"

#include <algorithm>
#include <cmath>

namespace penstock::booking {
namespace {

/// The points as two arrays of floats: what the compiler makes vectors of.
struct PointColumns {
  std::vector<float> x;
  std::vector<float> y;
};

/// One row of both matrices. Compiled without errno, so that the square root is one instruction.
void fill_row(const PointColumns& at, std::size_t from, const Roads& roads,
              Metres* __restrict distance,     // [nodes]
              Seconds* __restrict duration) {  // [nodes]
  const float* const x = at.x.data();
  const float* const y = at.y.data();
  const float x0 = x[from];
  const float y0 = y[from];
  const float pace = 1 / roads.metres_per_second;
  const std::size_t nodes = at.x.size();
  for (std::size_t to = 0; to < nodes; ++to) {
    const float dx = x[to] - x0;
    const float dy = y[to] - y0;
    const float metres = roads.circuity * std::sqrt(dx * dx + dy * dy);
    // lround() is no instruction, and these are far from where adding a half goes wrong.
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    distance[to] = static_cast<Metres>(metres + 0.5F);
    // NOLINTNEXTLINE(bugprone-incorrect-roundings)
    duration[to] = static_cast<Seconds>(metres * pace + 0.5F);
  }
}

}  // namespace

void fill_matrices(const Roads& roads, Instance& instance) {
  thread_local PointColumns columns;
  const std::size_t nodes = instance.num_nodes();
  columns.x.resize(nodes);
  columns.y.resize(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    columns.x[i] = instance.points[i].x;
    columns.y[i] = instance.points[i].y;
  }
  instance.distance.resize(nodes * nodes);
  instance.duration.resize(nodes * nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    fill_row(columns, i, roads, instance.distance.data() + i * nodes,
             instance.duration.data() + i * nodes);
  }
  // Three distances are each half a metre off by rounding, and by a few of their last bits.
  const auto [west, east] = std::ranges::minmax(columns.x);
  const auto [south, north] = std::ranges::minmax(columns.y);
  const float longest = roads.circuity * (east - west + north - south);
  instance.shortcut = 2 + static_cast<Metres>(longest / 500'000);
}

}  // namespace penstock::booking
