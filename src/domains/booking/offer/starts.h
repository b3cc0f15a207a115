#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

// The nodes are the instance's, with windows as promised.

/// Whether a route whose loads and order are right keeps the windows, the working day and the
/// longest ride.
bool keeps_promises(const Instance& instance, std::span<const Node> nodes,
                    std::span<const std::int32_t> route);

/// How long customers ride, from the end of service at their pickups; 0 for deliveries.
std::int64_t ride_seconds(const Instance& instance, std::span<const std::int32_t> route,
                          std::span<const Seconds> starts);

}  // namespace penstock::booking
