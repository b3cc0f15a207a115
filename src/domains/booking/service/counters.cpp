#include "domains/booking/service/counters.h"

#include <fmt/format.h>

#include <iterator>

namespace penstock::booking::service {

void Counters::count(const std::string& verb, int status) {
  const std::lock_guard lock(mutex_);
  ++calls_[{verb, status}];
}

void Counters::count_write(double seconds) {
  const std::lock_guard lock(mutex_);
  ++writes_;
  write_seconds_ += seconds;
}

std::string Counters::text() const {
  const std::lock_guard lock(mutex_);
  std::string text =
      "# HELP penstock_booking_calls_total Calls answered, by verb and status.\n"
      "# TYPE penstock_booking_calls_total counter\n";
  for (const auto& [key, number] : calls_) {
    fmt::format_to(std::back_inserter(text),
                   "penstock_booking_calls_total{{verb=\"{}\",status=\"{}\"}} {}\n", key.first,
                   key.second, number);
  }
  fmt::format_to(std::back_inserter(text),
                 "# HELP penstock_booking_write_seconds Time of changes in the store.\n"
                 "# TYPE penstock_booking_write_seconds summary\n"
                 "penstock_booking_write_seconds_sum {}\npenstock_booking_write_seconds_count {}\n",
                 write_seconds_, writes_);
  return text;
}

}  // namespace penstock::booking::service
