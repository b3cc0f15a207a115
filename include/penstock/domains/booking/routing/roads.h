#pragma once
#include <span>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// A city without a map: how much longer the roads are than the crow's flight, and how fast one is.
struct Roads {
  float circuity = 1.3F;
  float metres_per_second = 24 / 3.6F;
};

/// Fills both matrices from the points, rounded to the nearest metre and second. Allocates nothing
/// once the instance and this thread have held as many nodes.
void fill_matrices(const Roads& roads, Instance& instance);

/// The same by great circles, for places on the globe: x is the longitude, y the latitude, degrees.
/// The instance's points become a flat map around the first, metres.
void fill_from_degrees(const Roads& roads, std::span<const Point> degrees, Instance& instance);

}  // namespace penstock::booking
