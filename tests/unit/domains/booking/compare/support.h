#pragma once
#include <cstdlib>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking::test {

/// The nodes of a day stand on one straight street, by metres from its beginning; a vehicle makes a
/// metre a second.
inline void put_on_a_street(Instance& day, const std::vector<int>& places) {
  for (const int a : places) {
    day.points.push_back({static_cast<double>(a), 0});
    for (const int b : places) {
      day.distance.push_back(std::abs(a - b));
      day.duration.push_back(std::abs(a - b));
    }
  }
}

}  // namespace penstock::booking::test
