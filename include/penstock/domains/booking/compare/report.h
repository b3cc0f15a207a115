#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "penstock/domains/booking/compare/bound.h"
#include "penstock/domains/booking/compare/evaluate.h"

namespace penstock::booking {

/// What a page is made of.
struct ReportInput {
  const Evaluation& evaluation;  // with logs; null is among its policies and compared with
  const Bound& bound;            // of the same days
  const BookingRules& rules;
  std::string shown;     // the policy whose offers are looked at, and whose day is drawn
  std::int64_t day = 0;  // that the logs show
  std::string setting;   // what was played, in words
};

/// One page, nothing loaded from elsewhere, light and dark: the table of policies, and of one
/// policy its routes and timetable on a day beside those of null, its offers and their prices.
/// Nothing in it depends on time, threads or the machine. Throws UsageError when `shown` or null is
/// not one of the policies.
std::string report_html(const ReportInput& input);

}  // namespace penstock::booking
