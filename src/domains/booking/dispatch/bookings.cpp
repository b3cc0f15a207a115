#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "domains/booking/dispatch/index.h"
#include "domains/booking/dispatch/read_fields.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/domains/booking/dispatch/convert.h"

namespace penstock::booking::dispatch {
namespace {

constexpr std::array<std::string_view, 14> kColumns = {
    "date", "customer", "booked_at", "service", "earliest", "latest",  "lon",
    "lat",  "amount",   "answer",    "call",    "fee",      "revenue", "propensity"};

/// The cells of a line. Quotes may hold commas, and doubled quotes one.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) { cell = std::string(trimmed(cell)); }
  return cells;
}

/// One line after the other, with the columns of the first.
class BookingReader {
 public:
  BookingReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<Booking> read() {
    std::vector<Booking> bookings;
    while (!text_.empty()) {
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = trimmed(text_.substr(0, end));
      text_.remove_prefix(std::min(end + 1, text_.size()));
      ++number_;
      if (line.empty() || line.starts_with('#')) { continue; }
      cells_ = cells_of(line);
      if (columns_.empty()) {
        read_heading();
      } else {
        bookings.push_back(read_row());
      }
      if (bookings.size() > kMostBookings) { fail("more bookings than a list may have"); }
    }
    if (columns_.empty()) { fail("is empty: the first line names the columns"); }
    return bookings;
  }

 private:
  static constexpr std::size_t kMostBookings = 1'000'000;

  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}:{}: {}", name_, number_, what));
  }

  void read_heading() {
    const std::vector<std::string> known(kColumns.begin(), kColumns.end());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (std::find(known.begin(), known.end(), cells_[i]) == known.end()) {
        fail(fmt::format("unknown column \"{}\"{}; known are {}", cells_[i],
                         did_you_mean(cells_[i], known), fmt::join(known, ", ")));
      }
      if (!columns_.emplace(cells_[i], i).second) {
        fail(fmt::format("the column \"{}\" is there twice", cells_[i]));
      }
    }
    for (const char* needed : {"lon", "lat"}) {
      if (!columns_.contains(needed)) { fail(fmt::format("the column \"{}\" is missing", needed)); }
    }
  }

  /// Empty where there is no such column.
  [[nodiscard]] std::string cell(std::string_view column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string() : cells_[found->second];
  }

  [[nodiscard]] double number(std::string_view column, double low, double high,
                              double otherwise) const {
    const std::string text = cell(column);
    if (text.empty() && !std::isnan(otherwise)) { return otherwise; }
    double value = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    if (error != std::errc{} || end != last || !(value >= low && value <= high)) {
      fail(fmt::format("{} should be a number from {} to {}", column, low, high));
    }
    return value;
  }

  [[nodiscard]] Time time(std::string_view column, Time otherwise) const {
    const std::string text = cell(column);
    if (text.empty()) { return otherwise; }
    if (const auto clock = parse_clock(text)) { return *clock; }
    if (const auto date = parse_date(text)) { return *date % 86'400; }
    constexpr double kWeek = 604'800;
    return static_cast<Time>(number(column, 0, kWeek, std::nan("")));
  }

  [[nodiscard]] Booking read_row() const {
    if (cells_.size() != columns_.size()) {
      fail(fmt::format("{} cells in {} columns", cells_.size(), columns_.size()));
    }
    constexpr double kDay = 86'400;
    constexpr double kMostAmount = 1e6;
    constexpr double kMostMoney = 1e9;
    Booking row{.date = cell("date"),
                .customer = printable(cell("customer")),  // an id that JSON can hold
                .booked_at = cell("booked_at"),
                .service = static_cast<std::int32_t>(number("service", 0, kDay, 0)),
                .window = {.earliest = time("earliest", 0), .latest = time("latest", kForever)},
                .lon = number("lon", -180, 180, std::nan("")),
                .lat = number("lat", -90, 90, std::nan("")),
                .amount = static_cast<std::int32_t>(number("amount", 0, kMostAmount, 1)),
                .answer = cell("answer"),
                .call = cell("call"),
                .fee = number("fee", -kMostMoney, kMostMoney, 0),
                .revenue = number("revenue", 0, kMostMoney, 0),
                .propensity = number("propensity", 0, 1, 0)};
    if (!row.date.empty() && !parse_date(row.date)) {
      fail(fmt::format("\"{}\" is not a date as 2026-11-18", row.date));
    }
    if (row.window.latest < row.window.earliest) { fail("latest lies before earliest"); }
    return row;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t number_ = 0;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> cells_;
};

}  // namespace

bool Booking::taken() const {
  constexpr std::array<std::string_view, 5> kNo = {"no", "declined", "false", "0", "cancelled"};
  return std::find(kNo.begin(), kNo.end(), answer) == kNo.end();
}

std::vector<Booking> read_bookings(std::string_view text, const std::string& name) {
  return BookingReader(text, name).read();
}

void add_bookings(const std::vector<Booking>& bookings, const std::optional<std::string>& date,
                  Problem& fleet) {
  for (const Profile& profile : fleet.profiles) {
    if (profile.rows > 0) {
      throw DataError("bookings have lon and lat: leave the matrices out of the fleet's file");
    }
  }
  std::set<std::string> ids;
  for (const Task& task : fleet.tasks) { ids.insert(task.stops[0].id.text); }
  fleet.clock = !fleet.dates;
  for (std::size_t i = 0; i < bookings.size(); ++i) {
    const Booking& one = bookings[i];
    if (!one.taken() || (date && one.date != *date)) { continue; }
    const Time midnight = fleet.dates ? parse_date(one.date).value_or(0) : 0;
    Task task;
    std::string id = one.customer.empty() ? fmt::format("row-{}", i + 1) : one.customer;
    if (!ids.insert(id).second) {
      id += fmt::format("-{}", i + 1);
      ids.insert(id);
    }
    task.stops[0].id.text = id;
    task.stops[0].service = one.service;
    task.stops[0].windows.push_back({.earliest = midnight + one.window.earliest,
                                     .latest = std::min(kForever, midnight + one.window.latest)});
    if (fleet.num_amounts > 0) { task.delivery[0] = one.amount; }
    task.stops[0].place = ordinal(fleet.places.size());
    fleet.places.push_back(place_in_degrees(one.lon, one.lat));
    fleet.tasks.push_back(std::move(task));
    if (fleet.tasks.size() > kMostTasks) {
      throw DataError(fmt::format("more than {} bookings: choose a day with --date", kMostTasks));
    }
  }
}

}  // namespace penstock::booking::dispatch
