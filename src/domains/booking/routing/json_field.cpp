#include "penstock/domains/booking/routing/json_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "penstock/core/base/errors.h"

namespace penstock::booking {
namespace {

constexpr Seconds kWeek = 7 * 86400;

/// Digits alone, of a part of a clock's time.
std::optional<Seconds> number_in(std::string_view digits) {
  Seconds value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  if (error != std::errc{} || end != last || value < 0) { return {}; }
  return value;
}

/// "HH:MM" or "HH:MM:SS"; from the fifth day on hours have three digits.
std::optional<Seconds> clock_time(std::string_view text) {
  const std::size_t hours = std::min(text.find(':'), text.size());
  if (hours < 2 || hours > 3 || (text.size() != hours + 3 && text.size() != hours + 6)) {
    return {};
  }
  const auto first = number_in(text.substr(0, hours));
  if (!first) { return {}; }
  Seconds total = *first * 3600;
  Seconds unit = 60;
  for (std::size_t i = hours; i < text.size(); i += 3) {
    const auto part = number_in(text.substr(i + 1, 2));
    if (text[i] != ':' || !part || *part > 59) { return {}; }
    total += *part * unit;
    unit /= 60;
  }
  return total <= kWeek ? std::optional(total) : std::nullopt;
}

}  // namespace

JsonField JsonField::at(const char* key) const {
  const auto found = value_.find(key);
  if (found == value_.end()) { fail(fmt::format("the field \"{}\" is missing", key)); }
  return {*found, *this, key, 0};
}

JsonField JsonField::at(std::size_t index) const { return {value_[index], *this, nullptr, index}; }

void JsonField::require_object(std::initializer_list<std::string_view> keys) const {
  if (!value_.is_object()) { fail("should be an object, { ... }"); }
  for (const auto& [key, unused] : value_.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) { continue; }
    const std::vector<std::string> known(keys.begin(), keys.end());
    fail(fmt::format("unknown field \"{}\"{}; allowed are {}", key.substr(0, 40),
                     did_you_mean(key.substr(0, 40), known), fmt::join(known, ", ")));
  }
}

void JsonField::require_array(std::size_t most) const {
  if (!value_.is_array()) { fail("should be a list, [ ... ]"); }
  if (value_.size() > most) { fail(fmt::format("{} entries: at most {}", value_.size(), most)); }
}

double JsonField::number(double low, double high) const {
  const double value = value_.is_number() ? value_.get<double>() : std::nan("");
  if (!(value >= low && value <= high)) {
    fail(fmt::format("should be a number from {} to {}", low, high));
  }
  return value;
}

std::int32_t JsonField::integer(std::int32_t low, std::int32_t high) const {
  const double value = value_.is_number() ? value_.get<double>() : std::nan("");
  if (!(value >= low && value <= high) || value != std::floor(value)) {
    fail(fmt::format("should be a whole number from {} to {}", low, high));
  }
  return static_cast<std::int32_t>(value);
}

const std::string& JsonField::text() const {
  if (!value_.is_string()) { fail("should be a text in quotes"); }
  return value_.get_ref<const std::string&>();
}

std::string JsonField::name() const {
  if (value_.is_number_integer()) { return to_text(value_); }
  if (!value_.is_string()) { fail("should be a text in quotes or a whole number"); }
  return text();
}

Seconds JsonField::time() const {
  if (value_.is_number()) { return integer(0, kWeek); }
  const auto told = value_.is_string() ? clock_time(text()) : std::nullopt;
  if (!told && value_.is_string() && text().find('T') != std::string::npos) {
    fail(R"(is a date and time: give the time of day, "HH:MM"; the next day's 08:00 is "32:00")");
  }
  if (!told) { fail(R"(should be seconds since midnight, "HH:MM" or "HH:MM:SS")"); }
  return *told;
}

std::string JsonField::path() const {
  if (parent_ == nullptr) { return {}; }
  const std::string before = parent_->path();
  if (key_ == nullptr) { return fmt::format("{}[{}]", before, index_); }
  return before.empty() ? key_ : fmt::format("{}.{}", before, key_);
}

void JsonField::fail(std::string_view message) const {
  const std::string where = path();
  throw DataError(where.empty() ? fmt::format("{}: {}", *document_, message)
                                : fmt::format("{}: {}: {}", *document_, where, message));
}

}  // namespace penstock::booking
