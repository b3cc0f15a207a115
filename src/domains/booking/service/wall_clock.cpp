#include "domains/booking/service/wall_clock.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text_file.h"

namespace penstock::booking::service {

std::int64_t WallClock::now_ms() const {
  if (file_.empty()) {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }
  constexpr std::size_t kMost = 100;
  const std::string text = read_text(file_, kMost);
  std::int64_t now = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), now).ec != std::errc{}) {
    throw DataError(file_ + ": should hold the milliseconds since 1970");
  }
  return now;
}

std::string date_of(std::int64_t ms) {
  const std::chrono::sys_days day{
      std::chrono::floor<std::chrono::days>(std::chrono::milliseconds(ms))};
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

std::int64_t begin_of(const std::string& date) {
  const auto number = [&](std::size_t at, std::size_t size) {
    return std::stoi(date.substr(at, size));
  };
  const std::chrono::sys_days day = std::chrono::year(number(0, 4)) / number(5, 2) / number(8, 2);
  return std::chrono::milliseconds(day.time_since_epoch()).count();
}

}  // namespace penstock::booking::service
