#pragma once
#include <sched.h>

#include <chrono>

namespace penstock::detail {

/// How long to look again and again before going to sleep: a little more than a sleep and a wake
/// cost. The core is offered to others between looks, so that more processes than cores can look.
class Patience {
 public:
  /// Counts from the first call.
  bool left() {
    if (looks_++ % kLooksPerYield != 0) { return true; }
    const auto now = std::chrono::steady_clock::now();
    if (looks_ == 1) { until_ = now + kSpan; }
    ::sched_yield();
    return now < until_;
  }

 private:
  static constexpr auto kSpan = std::chrono::microseconds(100);
  static constexpr unsigned kLooksPerYield = 16;
  unsigned looks_ = 0;
  std::chrono::steady_clock::time_point until_;
};

}  // namespace penstock::detail
