#include "domains/booking/dispatch/read_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "domains/booking/dispatch/index.h"

namespace penstock::booking::dispatch {
namespace {

std::optional<Time> digits(std::string_view text) {
  Time value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  const bool plain = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (!plain || error != std::errc{} || end != last) { return {}; }
  return value;
}

/// "+01:00", "-0530", "Z" or nothing, in seconds.
std::optional<Time> offset_of(std::string_view text) {
  if (text.empty() || text == "Z" || text == "z") { return 0; }
  const std::size_t minutes = text.size() == 6 && text[3] == ':' ? 4 : 3;
  if ((text[0] != '+' && text[0] != '-') || text.size() != minutes + 2) { return {}; }
  const auto hour = digits(text.substr(1, 2));
  const auto minute = digits(text.substr(minutes, 2));
  if (!hour || !minute || *hour > 14 || *minute > 59) { return {}; }
  return (text[0] == '-' ? -1 : 1) * (*hour * 3600 + *minute * 60);
}

template <class List>
std::int32_t number_of(List& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) { return ordinal(found - names.begin()); }
  names.push_back(name);
  return ordinal(names.size()) - 1;
}

}  // namespace

std::optional<Time> parse_clock(std::string_view text) {
  if (text.size() < 5 || text.size() > 9) { return {}; }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon < 2 || colon > 3) { return {}; }
  const auto hours = digits(text.substr(0, colon));
  const auto minutes = digits(text.substr(colon + 1, 2));
  if (!hours || !minutes || *minutes > 59) { return {}; }
  std::optional<Time> seconds = 0;
  if (text.size() != colon + 3) {
    if (text.size() != colon + 6 || text[colon + 3] != ':') { return {}; }
    seconds = digits(text.substr(colon + 4));
  }
  if (!seconds || *seconds > 59) { return {}; }
  return *hours * 3600 + *minutes * 60 + *seconds;
}

std::optional<Time> parse_date(std::string_view text) {
  constexpr std::size_t kDate = 10;  // 2026-11-18
  if (text.size() < kDate || text[4] != '-' || text[7] != '-') { return {}; }
  const auto year = digits(text.substr(0, 4));
  const auto month = digits(text.substr(5, 2));
  const auto day = digits(text.substr(8, 2));
  if (!year || !month || !day) { return {}; }
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 1970) { return {}; }
  const Time midnight = Time{std::chrono::sys_days(date).time_since_epoch().count()} * 86'400;
  if (text.size() == kDate) { return midnight; }
  if (text[kDate] != 'T' && text[kDate] != ' ') { return {}; }
  const std::string_view rest = text.substr(kDate + 1);
  const std::size_t end = std::min(rest.find_first_of("Zz+-"), rest.size());
  const auto clock = parse_clock(rest.substr(0, end));
  const auto offset = offset_of(rest.substr(end));
  if (!clock || !offset || *clock >= 86'400) { return {}; }
  return std::max<Time>(0, midnight + *clock - *offset);
}

Time FieldReader::time(const JsonField& field) {
  if (field.json().is_number()) {
    const double value = field.number(0, static_cast<double>(kLastTime));
    if (value != static_cast<double>(static_cast<Time>(value))) {
      field.fail("should be a whole number of seconds");
    }
    return static_cast<Time>(value);
  }
  const std::string& text = field.text();
  if (const auto clock = parse_clock(text)) {
    if (problem_.dates) { field.fail("is a clock's time, other times here have a date"); }
    problem_.clock = true;
    return *clock;
  }
  const auto date = parse_date(text);
  if (!date) {
    field.fail(R"(should be seconds, "HH:MM", "HH:MM:SS" or a date as "2026-11-18T08:00:00Z")");
  }
  if (problem_.clock) { field.fail("has a date, other times here are a clock's"); }
  problem_.dates = true;
  return *date;
}

TimeWindow FieldReader::window(const JsonField& field) {
  field.require_array(2);
  if (field.size() != 2) { field.fail("should be two times: [earliest, latest]"); }
  const TimeWindow window{.earliest = time(field.at(std::size_t{0})), .latest = time(field.at(1))};
  if (window.latest < window.earliest) { field.fail("ends before it begins"); }
  return window;
}

TimeWindows FieldReader::windows(const JsonField& field) {
  constexpr std::size_t kMostWindows = 100;
  field.require_array(kMostWindows);
  TimeWindows windows;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const TimeWindow one = window(field.at(i));
    if (!windows.empty() && one.earliest <= windows.back().latest) {
      field.at(i).fail("begins before the one before it ends; put windows in order, apart");
    }
    windows.push_back(one);
  }
  return windows;
}

Skills FieldReader::skills(const JsonField& field) {
  field.require_array(kMostSkills);
  Skills skills;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto number = index(number_of(problem_.skills, field.at(i).name()));
    if (number >= kMostSkills) {
      field.at(i).fail(fmt::format("is the problem's skill {}: at most {}", number, kMostSkills));
    }
    skills.set(number);
  }
  return skills;
}

Amount FieldReader::amount(const JsonField& field) {
  constexpr std::int32_t kMost = 1'000'000'000 / 50;
  Amount amount{};
  const bool single = field.json().is_number();
  if (!single) { field.require_array(kMostAmounts); }
  const auto size = ordinal(single ? 1 : field.size());
  if (size > 0 && sized_ && size != problem_.num_amounts) {
    field.fail(fmt::format("{} amounts, others here have {}", size, problem_.num_amounts));
  }
  if (size > 0) {
    problem_.num_amounts = size;
    sized_ = true;
  }
  for (std::size_t i = 0; i < index(size); ++i) {
    amount[i] = single ? field.integer(0, kMost) : field.at(i).integer(0, kMost);
  }
  return amount;
}

std::int32_t FieldReader::type(const JsonField& field) {
  constexpr std::size_t kMostTypes = 1000;
  const std::int32_t number = number_of(problem_.types, field.name());
  if (index(number) >= kMostTypes) { field.fail("is one type too many"); }
  return number;
}

Place FieldReader::point(const JsonField& field) {
  constexpr double kFar = 10'000'000;  // metres
  const bool pair = field.json().is_array();
  const bool metres = field.json().is_object() && field.has("x");
  if (any_point_ && metres == problem_.degrees) {
    field.fail("mixes degrees and metres; give all places as [lon, lat] or all as x and y");
  }
  any_point_ = true;
  problem_.degrees = !metres;
  if (metres) {
    field.require_object({"x", "y"});
    return place_in_metres(field.at("x").number(-kFar, kFar), field.at("y").number(-kFar, kFar));
  }
  if (pair) {
    field.require_array(2);
    if (field.size() != 2) { field.fail("should be [lon, lat]"); }
    return place_in_degrees(field.at(std::size_t{0}).number(-180, 180),
                            field.at(1).number(-90, 90));
  }
  field.require_object({"lon", "lat", "x", "y"});
  return place_in_degrees(field.at("lon").number(-180, 180), field.at("lat").number(-90, 90));
}

std::optional<Place> FieldReader::place(const JsonField& object, const char* point_key,
                                        const char* row_key) {
  if (!object.has(point_key) && !object.has(row_key)) { return {}; }
  Place place;
  if (object.has(point_key)) { place = point(object.at(point_key)); }
  if (object.has(row_key)) { place.row = object.at(row_key).integer(0, ordinal(2 * kMostTasks)); }
  return place;
}

std::vector<std::pair<std::int32_t, std::int32_t>> FieldReader::by_type(const JsonField& field) {
  if (!field.json().is_object()) { field.fail("should be an object of types and seconds"); }
  std::vector<std::pair<std::int32_t, std::int32_t>> list;
  for (const auto& [key, unused] : field.json().items()) {
    list.emplace_back(number_of(problem_.types, key), seconds(field.at(key.c_str())));
  }
  return list;
}

Name FieldReader::name(const JsonField& field) {
  return {.text = field.name(), .is_number = field.json().is_number()};
}

std::int32_t FieldReader::seconds(const JsonField& field) { return field.integer(0, kMostSeconds); }

std::string FieldReader::description(const JsonField& object) {
  return object.has("description") ? object.at("description").text() : std::string();
}

}  // namespace penstock::booking::dispatch
