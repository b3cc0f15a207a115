#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/booking/demand/fit.h"
#include "penstock/domains/booking/dispatch/convert.h"
#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::demand {

struct OfferedSlot {
  std::string date;
  dispatch::TimeWindow window;
  double fee = 0;

  [[nodiscard]] bool same_time(const OfferedSlot& other) const {
    return date == other.date && window == other.window;
  }
};

/// A call as it was logged.
struct LoggedCall {
  std::string day;   // on which it came
  double hour = 12;  // of that day, where the log tells it
  std::string customer;
  dispatch::Request request;
  double revenue = 0;
  double propensity = 0;  // 0: not told
  std::vector<OfferedSlot> menu;
  std::int32_t taken = kNoPurchase;
};

/// The calls of a log, in the order in which they came. Rows with the same `call`, or without that
/// column the same customer and booked_at, are the slots that one call was shown. Throws DataError
/// for a row without date or answer, and for calls that take two slots or were shown too many.
std::vector<LoggedCall> calls_of(const std::vector<dispatch::Booking>& rows,
                                 const dispatch::Problem& fleet);

/// What was said to these slots on that day.
Answer answer_of(const LoggedCall& call);

}  // namespace penstock::booking::demand
