#pragma once
#include <span>
#include <string>
#include <vector>

#include "domains/booking/compare/timetable.h"
#include "penstock/domains/booking/compare/report.h"

namespace penstock::booking::detail {

/// "12.30 km" or "12.30 min", in_unit().
std::string cost_text(Cost cost, CostUnit unit, int digits = 2);
/// "08:30", of seconds since midnight.
std::string clock_text(Seconds time);
/// "08:30–09:00".
std::string window_text(const Window& window);
/// The class of a vehicle's colour; there are eight.
std::string vehicle_class(std::int32_t vehicle);
/// The classes that all pictures of a request have, counted from 0: pointing at one finds all.
std::string request_class(std::size_t request);
/// Whether a node is where somebody gets on, or the only stop of a request.
bool begins_request(const Instance& instance, std::int32_t node);
/// "pickup of request 3", counted from 1 as people do.
std::string stop_text(const Instance& instance, std::int32_t node);

/// A row of a table; narrow screens show it as a card, each cell with its column's name.
std::string table_row(const std::vector<std::string>& columns,
                      const std::vector<std::string>& cells, const std::string& cls = "");
/// The names above the columns.
std::string table_head(const std::vector<std::string>& columns);

/// The offers of the shown day in the order of calls, with their sums.
std::string offers_table(const BookingLog& log, const BookingRules& rules);

/// What each policy earns more than null: the objective itself.
std::string gain_chart(const ReportInput& input);
/// Where the vehicles of a day go; empty when places are unknown.
std::string route_map(const BookingLog& log, const std::string& title);
/// When they are where: driving, waiting and stops, the promised windows below. `span` is the
/// working day to be drawn.
std::string gantt_chart(const BookingLog& log, Window span, const std::string& title);
/// The hours that the vehicles of all these logs are out.
Window hours_out(std::span<const BookingLog* const> logs);

/// What a minute of a customer's patience is worth, by offer.
std::string price_grid(const BookingLog& log, const BookingRules& rules);
/// How often each offer was made, and how often it was taken then.
std::string made_grid(const BookingLog& log);
std::string taken_grid(const BookingLog& log);
/// Offers by the hour that was wished for.
std::string hour_chart(const BookingLog& log);

}  // namespace penstock::booking::detail
