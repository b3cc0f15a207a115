#pragma once
#include <cstdint>
#include <string>
#include <string_view>

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
/// The same of what a task adds to the route that it is in.
Json tell_price(const dispatch::Route& without, const dispatch::Route& with);
/// Why a window is not feasible, or what it would cost.
Json tell_quote(const dispatch::TimeWindow& window, const dispatch::Quote& quote);

/// "vehicle", "load" and "capacity": who drives a route, and the most on board at any time, of how
/// much.
void add_vehicle(const dispatch::Problem& problem, const dispatch::Route& route, Json& told);
/// The stops whose work begins at another time than before, but those of `but`: [{"id", "from",
/// "to"}].
Json tell_displaced(const dispatch::Problem& problem, const dispatch::Route& before,
                    const dispatch::Route& after, std::string_view but = {});

/// A vehicle's day: departure, stops, loads, return.
Json tell_route(const dispatch::Schedule& schedule, const dispatch::Route& route);

}  // namespace penstock::booking::service
