#include "domains/booking/routing/text_scanner.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock::booking {
namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

/// A word of the user's in an error: short, and printable.
std::string quoted(std::string_view word) {
  constexpr std::size_t kMost = 40;
  std::string text = "'";
  for (const char c : word.substr(0, kMost)) { text += c >= ' ' && c < 127 ? c : '?'; }
  return text + (word.size() > kMost ? "...'" : "'");
}

}  // namespace

bool read_number(std::string_view text, double& value) {
  constexpr double kMost = 1e9;
  if (text.starts_with('+')) { text.remove_prefix(1); }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::abs(value) <= kMost;
}

bool Scanner::next_line() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (!line_.empty()) { return true; }
  }
  line_ = {};
  return false;
}

std::string_view Scanner::word(std::string_view what) {
  if (line_.empty()) { fail(fmt::format("the line ends where {} should be", what)); }
  const std::size_t end = line_.find_first_of(kBlank);
  const std::string_view found = line_.substr(0, end);
  line_ = trimmed(line_.substr(found.size()));
  return found;
}

double Scanner::number(std::string_view what) {
  const std::string_view text = word(what);
  double value = 0;
  if (!read_number(text, value)) {
    fail(fmt::format("{} is {}, not a number of at most 1e9", what, quoted(text)));
  }
  return value;
}

std::int32_t Scanner::integer(std::string_view what, std::int32_t low, std::int32_t high) {
  const std::string_view text = word(what);
  double value = 0;
  if (!read_number(text, value) || value != std::floor(value) || value < low || value > high) {
    fail(fmt::format("{} is {}, not a whole number from {} to {}", what, quoted(text), low, high));
  }
  return static_cast<std::int32_t>(value);
}

Scanner Scanner::at_line(std::size_t number) const {
  Scanner there = *this;
  there.number_ = number;
  return there;
}

void Scanner::fail(std::string_view message) const {
  throw DataError(fmt::format("{}:{}: {}", name_, number_, message));
}

}  // namespace penstock::booking
