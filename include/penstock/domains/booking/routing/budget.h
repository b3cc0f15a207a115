#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>

namespace penstock::booking {

/// A share of time or iterations, counted down by step(). The clock is read now and then only.
class Budget {
 public:
  /// Zero: no limit of this kind; one of the two must be given.
  Budget(double seconds, std::int64_t iterations)
      : seconds_(seconds), iterations_(iterations), begin_(Clock::now()) {}

  /// Whether another iteration may begin; counts it.
  bool step() {
    if (used_ % kReadEvery == 0) { read(); }
    if (spent_ >= 1 || (iterations_ > 0 && used_ >= iterations_)) { return false; }
    ++used_;
    return true;
  }
  /// The first part of this budget, as one of its own; skip() what was used of it afterwards.
  [[nodiscard]] Budget share(double part) const {
    Budget first(seconds_ * part, static_cast<std::int64_t>(part * iterations_));
    first.begin_ = begin_;
    return first;
  }
  void skip(std::int64_t iterations) {
    used_ += iterations;
    read();
  }
  /// From 0 to 1.
  [[nodiscard]] double spent() const { return spent_; }
  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t kReadEvery = 32;

  void read() {
    spent_ = iterations_ > 0 ? static_cast<double>(used_) / iterations_ : 0;
    if (seconds_ > 0) {
      const std::chrono::duration<double> passed = Clock::now() - begin_;
      spent_ = std::max(spent_, passed.count() / seconds_);
    }
  }

  double seconds_;
  std::int64_t iterations_;
  Clock::time_point begin_;
  std::int64_t used_ = 0;
  double spent_ = 0;
};

}  // namespace penstock::booking
