#include "domains/booking/service/price_errors.h"

#include <algorithm>
#include <vector>

namespace penstock::booking::service {
namespace {

constexpr std::size_t kFewest = 20;
constexpr std::size_t kMost = 200;
constexpr double kInside = 0.9;

}  // namespace

void PriceErrors::add(dispatch::Money price, dispatch::Money saved) {
  if (price <= 0) { return; }
  const std::lock_guard lock(mutex_);
  // More than all of it: slack of others, which this stop did not bring.
  shares_.push_back(std::clamp(static_cast<double>(saved) / price, 0.0, 1.0));
  if (shares_.size() > kMost) { shares_.pop_front(); }
  if (shares_.size() < kFewest) { return; }
  std::vector<double> sorted(shares_.begin(), shares_.end());
  std::sort(sorted.begin(), sorted.end());
  saved_ = sorted[kInside * static_cast<double>(sorted.size() - 1)];
}

double PriceErrors::saved() const {
  const std::lock_guard lock(mutex_);
  return saved_;
}

}  // namespace penstock::booking::service
