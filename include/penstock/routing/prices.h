#pragma once
#include <array>
#include <cstdint>

#include "penstock/routing/answers.h"
#include "penstock/routing/instance.h"
#include "penstock/routing/route_set.h"

namespace penstock::routing {

/// What each offer on a request, were it taken, would add to the routes by cheapest insertion;
/// Insertion::kNowhere where it does not fit. The instance holds the request's wished windows.
std::array<Cost, kNumOffers> insertion_prices(const RouteSet& routes, std::int32_t request,
                                              OfferKind kind);

}  // namespace penstock::routing
