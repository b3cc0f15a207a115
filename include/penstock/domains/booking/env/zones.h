#pragma once
#include <cstdint>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// The zones that observations speak of: a fixed tiling of the square [0, side]^2 by 15 rows of 14
/// or 13 cells, 207 in all.
inline constexpr std::int32_t kZones = 207;

/// The zone of a point, in [0, kZones). A point outside belongs to the nearest zone of the rim.
std::int32_t zone_of(Point point, double side);

/// The middle of a zone: zone_of(middle_of(zone, side), side) == zone.
Point middle_of(std::int32_t zone, double side);

}  // namespace penstock::booking
