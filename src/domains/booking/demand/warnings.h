#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/booking/demand/backtest.h"

namespace penstock::booking::demand {

/// What a log lacks, beside what the results tell.
struct LogGaps {
  std::int64_t refused = 0;    // logged bookings that do not fit the fleet
  std::int64_t left_out = 0;   // slots of calls that have too many
  bool answers_alike = false;  // nothing makes customers say no
  bool cannot_sell = false;    // a network was to be judged, but not all days tell what fees do
};

/// What the log cannot know, in words.
std::vector<std::string> warnings_of(const Backtest& told, const LogGaps& gaps);

}  // namespace penstock::booking::demand
