#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking::dispatch {

/// The same problem as an Instance has: its matrices, a fleet of its own kind, ids that count its
/// requests from 1. A unit of cost is a unit of its distances.
Problem problem_of(const Instance& instance);

/// One line of a list of bookings.
struct Booking {
  std::string date;  // "2026-11-18", or empty
  std::string customer;
  std::string booked_at;  // as the file has it
  std::int32_t service = 0;
  TimeWindow window;  // of the day, seconds since midnight
  double lon = 0;
  double lat = 0;
  std::int32_t amount = 1;
  std::string answer;     // what the customer said
  std::string call;       // rows of one call are the slots that were shown in it
  double fee = 0;         // what the customer was to pay for the slot; below 0: an incentive
  double revenue = 0;     // of the order
  double propensity = 0;  // the chance that this menu was shown, where it was drawn; 0: not told
  [[nodiscard]] bool taken() const;
};
/// A CSV whose first line names the columns, in any order: lon, lat, and if there date, customer,
/// booked_at, service, earliest, latest, amount, answer, call, fee, revenue, propensity. Throws
/// DataError that names the line.
std::vector<Booking> read_bookings(std::string_view text, const std::string& name);
/// Adds the bookings of a date that were taken to a fleet, as jobs; all that were taken when there
/// is no date. Times are those of the day. Throws DataError when the fleet has matrices.
void add_bookings(const std::vector<Booking>& bookings, const std::optional<std::string>& date,
                  Problem& fleet);

/// Reads any of the formats: JSON, Solomon, Li & Lim, Cordeau, VRPLIB, by what the text looks like.
Problem read_any(std::string_view text, const std::string& name, Convention convention);

}  // namespace penstock::booking::dispatch
