#pragma once
#include <string>
#include <string_view>

#include "penstock/domains/booking/routing/json_field.h"

namespace penstock::booking::selling {

/// What is expected of a depot's days, so that a network can tell what a sale costs later. Money is
/// in the fleet's units of cost.
struct Forecast {
  double calls = 0;       // for a day, from the first to the last
  double revenue = 0;     // of a request that tells none
  double opens_h = 168;   // hours before a day begins at which it goes on sale
  double closes_h = 0;    // and at which the last calls come
  double side_km = 15;    // of the area where customers live
  double most_fee = 0;    // largest fee, and largest discount; 0: 2.5 / what a fee takes
  double fee_step = 0.5;  // fees are multiples of this
};

/// Throws DataError that names the field.
Forecast read_forecast(const JsonField& field);
/// That of the JSON of a fleet. Throws DataError, which tells what to write where it has none.
Forecast required_forecast(std::string_view text, const std::string& name);

}  // namespace penstock::booking::selling
