#pragma once
#include <sched.h>

#include <chrono>

namespace penstock::detail {

/// How long to look again and again before going to sleep: a little more than a sleep and a wake
/// cost. The core is offered to others between looks, so that more processes than cores can look.
/// Where others take the offer for long, sleeping is better: the system wakes a sleeper at once,
/// but lets one who yields wait. Then looking is given up for a while.
///
/// Why not simply sleep: a step of a cheap env takes less time than a sleep and a wake. Why not
/// simply spin: workers and parent often share cores, and a process that spins keeps from running
/// the very one it waits for.
class SpinWait {
 public:
  /// For another wait.
  void renew() { looks_ = 0; }

  /// Counts from the first call.
  bool left() {
    if (crowded_ > 0) {
      --crowded_;
      return false;
    }
    if (looks_++ % kLooksPerYield != 0) { return true; }
    const Clock::time_point before = Clock::now();
    if (looks_ == 1) { until_ = before + kSpan; }
    ::sched_yield();
    const Clock::time_point after = Clock::now();
    if (after - before > kLong) { crowded_ = kCrowdedWaits; }
    return after < until_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kSpan = std::chrono::microseconds(100);
  static constexpr auto kLong = std::chrono::microseconds(1000);
  static constexpr unsigned kLooksPerYield = 16;
  static constexpr int kCrowdedWaits = 1000;

  unsigned looks_ = 0;
  int crowded_ = 0;  // waits to come without looking
  Clock::time_point until_;
};

}  // namespace penstock::detail
