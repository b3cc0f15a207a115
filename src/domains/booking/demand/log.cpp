#include "penstock/domains/booking/demand/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "penstock/core/base/errors.h"

namespace penstock::booking::demand {
namespace {

constexpr std::size_t kDateSize = 10;  // YYYY-MM-DD

std::string key_of(const dispatch::Booking& row, std::size_t number) {
  if (!row.call.empty()) { return "call " + row.call; }
  if (row.customer.empty() || row.booked_at.empty()) { return fmt::format("row {}", number + 1); }
  return fmt::format("{} at {}", row.customer, row.booked_at);
}

dispatch::Request request_of(const dispatch::Booking& row, const std::string& id,
                             const dispatch::Problem& fleet) {
  dispatch::Request request;
  request.places[0] = dispatch::place_in_degrees(row.lon, row.lat);
  request.task.stops[0].id.text = id;
  request.task.stops[0].service = row.service;
  if (fleet.num_amounts > 0) { request.task.delivery[0] = row.amount; }
  return request;
}

/// Of a moment such as "2026-11-16T10:12"; the middle of the day where there is none.
double hour_of(const std::string& moment) {
  constexpr double kNoon = 12;
  constexpr double kMinutes = 60;
  constexpr std::size_t kMinuteAt = 14;
  if (moment.size() < kMinuteAt + 2) { return kNoon; }
  int hour = 0;
  int minute = 0;
  const char* const text = moment.c_str() + kDateSize + 1;
  const bool told = std::from_chars(text, text + 2, hour).ec == std::errc{} &&
                    std::from_chars(text + 3, text + 5, minute).ec == std::errc{};
  return told ? hour + minute / kMinutes : kNoon;
}

LoggedCall first_of(const dispatch::Booking& row, const std::string& id,
                    const dispatch::Problem& fleet) {
  const bool has_moment = row.booked_at.size() >= kDateSize;
  return {.day = has_moment ? row.booked_at.substr(0, kDateSize) : row.date,
          .hour = hour_of(row.booked_at),
          .customer = row.customer,
          .request = request_of(row, id, fleet),
          .revenue = row.revenue,
          .propensity = row.propensity};
}

void add_slot(const dispatch::Booking& row, const std::string& key, LoggedCall& call) {
  if (row.date.size() < kDateSize || row.answer.empty()) {
    throw DataError(fmt::format("{}: a slot without date or answer; both are needed", key));
  }
  const bool taken = row.taken();
  if (taken && call.taken != kNoPurchase) {
    throw DataError(fmt::format("{}: takes two slots; give every call its own \"call\"", key));
  }
  if (taken) { call.taken = static_cast<std::int32_t>(call.menu.size()); }
  call.menu.push_back({row.date.substr(0, kDateSize), row.window, row.fee});
  if (call.menu.size() > kMaxSlots) {
    throw DataError(fmt::format("{}: was shown more than {} slots", key, kMaxSlots));
  }
}

}  // namespace

std::vector<LoggedCall> calls_of(const std::vector<dispatch::Booking>& rows,
                                 const dispatch::Problem& fleet) {
  std::vector<LoggedCall> calls;
  std::vector<std::string> moments;
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string key = key_of(rows[i], i);
    const auto [found, fresh] = number_of.try_emplace(key, calls.size());
    if (fresh) {
      calls.push_back(first_of(rows[i], fmt::format("{}", calls.size()), fleet));
      moments.push_back(rows[i].booked_at.empty() ? rows[i].date : rows[i].booked_at);
    }
    add_slot(rows[i], key, calls[found->second]);
  }
  std::vector<std::size_t> order(calls.size());
  for (std::size_t i = 0; i < order.size(); ++i) { order[i] = i; }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return moments[a] < moments[b]; });
  std::vector<LoggedCall> sorted;
  sorted.reserve(calls.size());
  for (const std::size_t i : order) { sorted.push_back(std::move(calls[i])); }
  return sorted;
}

Answer answer_of(const LoggedCall& call) {
  Answer answer{.taken = call.taken};
  for (const OfferedSlot& slot : call.menu) {
    answer.slots.push_back(seen_from(call.day, slot.date, slot.window));
    answer.fees.push_back(slot.fee);
  }
  return answer;
}

}  // namespace penstock::booking::demand
