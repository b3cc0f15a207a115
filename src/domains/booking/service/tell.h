#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/dispatch/schedule.h"

// Plans in the words of answers.

namespace penstock::booking::service {

double units(dispatch::Money cost);
double km(std::int64_t metres);
double minutes(std::int64_t seconds);

/// The id of the booking that a visit of a route is for.
const std::string& id_at(const dispatch::Problem& problem, const dispatch::Visit& visit);

/// Why nothing fits, and what to do about it.
std::string explain(dispatch::Obstacle obstacle);
/// added_cost, added_km, added_min.
Json tell_price(const dispatch::Quote& quote);
/// That, or why not, of one window.
Json tell_quote(const dispatch::Schedule& schedule, const dispatch::TimeWindow& window,
                const dispatch::Quote& quote);

/// When work begins at each stop of a vehicle, as early as may be: by "id" or "id delivery".
using Begins = std::map<std::string, dispatch::Time>;
/// Empty for vehicle -1.
Begins begins_of(const dispatch::Schedule& schedule, std::int32_t vehicle);
/// The stops that begin at another time than before: [{"id", "from", "to"}].
Json tell_displaced(const Begins& before, const Begins& after);

/// A vehicle's day: departure, stops, loads, return.
Json tell_route(const dispatch::Schedule& schedule, const dispatch::Route& route);

}  // namespace penstock::booking::service
