#include "domains/booking/service/price_errors.h"

#include <algorithm>
#include <vector>

namespace penstock::booking::service {
namespace {

constexpr std::size_t kFewestShares = 20;
constexpr std::size_t kMostShares = 200;
constexpr double kInside = 0.9;

}  // namespace

void PriceErrors::add(dispatch::Money price, dispatch::Money saved) {
  if (price <= 0) { return; }
  const std::lock_guard lock(mutex_);
  // More than all of it: slack of others, which this stop did not bring.
  shares_.push_back(std::clamp(static_cast<double>(saved) / price, 0.0, 1.0));
  if (shares_.size() > kMostShares) { shares_.pop_front(); }
  if (shares_.size() < kFewestShares) { return; }
  std::vector<double> sorted(shares_.begin(), shares_.end());
  std::sort(sorted.begin(), sorted.end());
  saved_ = sorted[static_cast<std::size_t>(kInside * (sorted.size() - 1))];
}

double PriceErrors::saved() const {
  const std::lock_guard lock(mutex_);
  return saved_;
}

}  // namespace penstock::booking::service
