#include "penstock/domains/booking/env/zones.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

namespace penstock::booking {
namespace {

TEST_CASE("every zone can be reached, and nothing outside of them") {
  constexpr int kPerSide = 400;
  std::set<std::int32_t> seen;
  for (int x = 0; x <= kPerSide; ++x) {
    for (int y = 0; y <= kPerSide; ++y) {
      seen.insert(zone_of({7500.0 * x / kPerSide, 7500.0 * y / kPerSide}, 7500));
    }
  }
  CHECK(seen.size() == kZones);
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == kZones - 1);
}

TEST_CASE("the middle of a zone lies in it, whatever the side") {
  for (const double side : {1.0, 7500.0, 17000.0}) {
    for (std::int32_t zone = 0; zone < kZones; ++zone) {
      REQUIRE(zone_of(middle_of(zone, side), side) == zone);
    }
  }
}

TEST_CASE("points outside belong to the rim") {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  CHECK(zone_of({-1, -1}, 7500) == 0);
  CHECK(zone_of({-kFar, -kFar}, 7500) == 0);
  CHECK(zone_of({7500, 7500}, 7500) == kZones - 1);
  CHECK(zone_of({kFar, kFar}, 7500) == kZones - 1);
  CHECK(zone_of({std::nan(""), std::nan("")}, 7500) == 0);
}

}  // namespace
}  // namespace penstock::booking
