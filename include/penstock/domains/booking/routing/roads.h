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
void fill_from_degrees(const Roads& roads, std::span<const Point> degrees, Instance& instance);

/// Degrees as metres of a flat map, for pictures and observations.
Point lay_flat(Point degrees, Point middle);

/// Whether points that are said to be metres all lie on a spot, and within the numbers of degrees.
/// Taken for metres they would make every way nothing, and nobody would notice.
bool look_like_degrees(std::span<const Point> metres);

}  // namespace penstock::booking
