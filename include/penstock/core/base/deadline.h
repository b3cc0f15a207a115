#pragma once
#include <chrono>
#include <stdexcept>

namespace penstock {

/// Until when somebody waits for a result. By a clock that only goes on.
class Deadline {
 public:
  /// So many seconds from now.
  static Deadline in(double seconds);
  [[nodiscard]] bool passed() const { return std::chrono::steady_clock::now() >= at_; }

 private:
  std::chrono::steady_clock::time_point at_;
};

/// Nobody waits for the result any more. Nobody's mistake, and so not an Error.
class TooLate : public std::runtime_error {
 public:
  TooLate() : std::runtime_error("it takes longer than anybody waits for it") {}
};

/// The deadline of what this thread does while the object lives. One at a time, on one thread.
class DeadlineScope {
 public:
  explicit DeadlineScope(const Deadline& deadline);
  DeadlineScope(const DeadlineScope&) = delete;
  DeadlineScope& operator=(const DeadlineScope&) = delete;
  ~DeadlineScope();
};

/// Throws TooLate once this thread's deadline has passed; without one, never. Costs a look at the
/// clock: for the rounds of a search, not for their parts.
void check_deadline();

}  // namespace penstock
