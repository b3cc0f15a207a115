#pragma once
#include <cstdint>
#include <deque>
#include <string>

namespace penstock {

/// How many failures a run survives: so many within a window of time. A run of a week may lose a
/// worker every few hours; one that loses as many in an hour is broken.
/// Times are the caller's, from any clock that does not go backwards. Not thread safe.
class RestartBudget {
 public:
  /// At most `most` failures within any `window_s` seconds; a window of 0 has no end.
  RestartBudget(std::int64_t most, double window_s) : most_(most), window_s_(window_s) {}

  /// A failure at this time. Those that the window has left behind count no more.
  void add(double now_s, std::string cause);
  /// Failures that count.
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(failures_.size()); }
  [[nodiscard]] bool spent() const { return count() > most_; }
  /// "envs failed 3 times, more than env.max_restarts = 2 within env.restart_window_s = 60; the
  /// first: ...", with the first of those that count. There must be one.
  [[nodiscard]] std::string text() const;

 private:
  struct Failure {
    double at_s = 0;
    std::string cause;
  };

  std::int64_t most_;
  double window_s_;
  std::deque<Failure> failures_;
};

}  // namespace penstock
