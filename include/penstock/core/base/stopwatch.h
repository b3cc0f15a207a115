#pragma once
#include <sys/types.h>

#include <chrono>

namespace penstock {

/// Seconds since it was made or restarted, by the monotonic clock.
/// It always runs; a copy goes on from the same start.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The seconds so far, and start again.
  double lap() {
    const auto now = Clock::now();
    const double passed = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// CPU seconds that this process, or another one, has used so far, all threads together; 0 of a
/// process that is not there.
double cpu_seconds();
double cpu_seconds_of(pid_t process);

}  // namespace penstock
