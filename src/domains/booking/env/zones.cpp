#include "penstock/domains/booking/env/zones.h"

#include <array>

namespace penstock::booking {
namespace {

constexpr std::int32_t kRows = 15;

/// Every fifth row has a cell less, so that 15 rows hold 207 cells.
constexpr std::int32_t cells_in(std::int32_t row) { return row % 5 == 2 ? 13 : 14; }

constexpr std::array<std::int32_t, kRows + 1> first_cells() {
  std::array<std::int32_t, kRows + 1> first{};
  for (std::int32_t row = 0; row < kRows; ++row) {
    first[static_cast<std::size_t>(row) + 1] = first[row] + cells_in(row);
  }
  return first;
}
constexpr auto kFirst = first_cells();
static_assert(kFirst[kRows] == kZones);

/// Which of `parts` equal parts of [0, side] a coordinate lies in; NaN counts as 0.
std::int32_t part_of(double at, double side, std::int32_t parts) {
  const double scaled = at / side * parts;
  if (!(scaled > 0)) { return 0; }
  return scaled >= parts ? parts - 1 : static_cast<std::int32_t>(scaled);
}

}  // namespace

std::int32_t zone_of(Point point, double side) {
  const std::int32_t row = part_of(point.y, side, kRows);
  return kFirst[row] + part_of(point.x, side, cells_in(row));
}

Point middle_of(std::int32_t zone, double side) {
  std::int32_t row = 0;
  while (zone >= kFirst[static_cast<std::size_t>(row) + 1]) { ++row; }
  const std::int32_t column = zone - kFirst[row];
  return {.x = side * (column + 0.5) / cells_in(row), .y = side * (row + 0.5) / kRows};
}

}  // namespace penstock::booking
