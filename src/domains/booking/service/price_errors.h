#pragma once
#include <cstdint>
#include <deque>
#include <mutex>

#include "penstock/domains/booking/dispatch/problem.h"

namespace penstock::booking::service {

/// How far prices were off: a stop is priced where it fits into the routes as they are, and the
/// search that follows makes all routes cheaper. Thread-safe.
class PriceErrors {
 public:
  /// A stop was taken in at a price, and the search has saved so much since.
  void add(dispatch::Money price, dispatch::Money saved);
  /// The share of the price that the search takes off again, at most, of 9 in 10 bookings: of the
  /// last ones, or of others before these were enough.
  [[nodiscard]] double saved() const;

 private:
  /// Of the first bookings after a start; bench/booking/price_errors.py measures it.
  static constexpr double kUsual = 0.65;

  mutable std::mutex mutex_;
  std::deque<double> shares_;  // the newest last
  double saved_ = kUsual;
};

}  // namespace penstock::booking::service
