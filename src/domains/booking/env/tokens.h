#pragma once
#include <span>

#include "penstock/domains/booking/env/booking.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// The tokens of the observation `set`, [C + 1, 16]: the depot, what was promised from the top, the
/// request that waits in the last row. `routes` holds the booking's plan.
///   0-2    depot, promised, waiting: one of them is 1
///   3-6    where: x and y of the pickup and of the drop-off, in sides of the square
///   7-10   when: earliest and latest of the pickup and of the drop-off, in days
///   11-12  how far the start of service at each may still move, in hours
///   13     on board after the pickup, in vehicles' capacities
///   14     where in its route the pickup comes, 0 to 1
///   15     the way from pickup to drop-off, in sides
/// The depot's own: 7 requests to come, 8 served, 9 unserved, each as a share of all; 10 the share
/// of vehicles that have nothing to do, 11 the mean way per served request, in sides.
void write_tokens(const Booking& booking, const RouteSet& routes, double side,
                  std::span<float> tokens);

/// A time as a share of the working day.
float share_of_day(const Instance& instance, Seconds time);

}  // namespace penstock::booking
