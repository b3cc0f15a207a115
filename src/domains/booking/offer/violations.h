#pragma once
#include <string>

#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {

/// What is wrong with the plan of a query, by the ids of requests and in clock times.
std::string words_of(const OfferQuery& query, const Violation& violation);

}  // namespace penstock::booking
