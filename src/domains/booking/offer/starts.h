#pragma once
#include <cstdint>
#include <span>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// Whether a route whose loads and order are right keeps the windows, the working day and the
/// longest ride.
bool keeps_promises(const Instance& instance, std::span<const std::int32_t> route);

}  // namespace penstock::booking
