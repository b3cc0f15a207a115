#include "penstock/domains/booking/env/offer_prices.h"

#include "penstock/domains/booking/routing/search.h"

namespace penstock::booking {

std::array<Cost, kNumOffers> insertion_prices(const RouteSet& routes, std::int32_t request,
                                              OfferKind kind) {
  std::array<Cost, kNumOffers> prices{};
  const RequestWindows wished = windows_of(routes.instance(), request);
  const Mode mode = routes.instance().mode;
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    const std::int32_t action = offer;
    prices[offer] = routes.cheapest(request, offered_windows(wished, mode, kind, action)).added;
  }
  return prices;
}

void Quoter::load(const Booking& booking) {
  booking_ = &booking;
  routes_.load(booking.instance(), booking.plan());
}

std::array<Cost, kNumOffers> Quoter::quote(OfferKind kind) {
  auto prices = insertion_prices(routes_, booking_->request(), kind);
  if (pricing_ == Pricing::relocate && prices[kNoChange] != Insertion::kNowhere) {
    move_others(kind, prices);
  }
  return prices;
}

void Quoter::move_others(OfferKind kind, std::array<Cost, kNumOffers>& prices) {
  const std::int32_t request = booking_->request();
  instance_ = booking_->instance();
  tried_.load(instance_, booking_->plan());
  requests_.assign(booking_->served().begin(), booking_->served().end());
  requests_.push_back(request);
  const RequestWindows wished = windows_of(booking_->instance(), request);
  const Cost unmoved = prices[kNoChange];
  prices[kNoChange] = added_after_moves(wished);
  const Cost moved = unmoved - prices[kNoChange];
  for (std::int32_t action = 0; action < kOffers; ++action) {
    Cost& price = prices[action];
    if (action == kNoChange || price == Insertion::kNowhere) { continue; }
    // What is dearer or the same at once will hardly be cheaper afterwards: not worth the time.
    price = price < unmoved
                ? added_after_moves(offered_windows(wished, instance_.mode, kind, action))
                : price - moved;
  }
}

Cost Quoter::added_after_moves(const RequestWindows& windows) {
  const std::int32_t request = booking_->request();
  promise(instance_, request, windows);
  tried_.mark();
  tried_.insert(request, tried_.cheapest(request));
  relocate(tried_, requests_);
  const Cost added = tried_.cost() - booking_->cost();
  tried_.rollback();
  return added;
}

std::array<double, kNumOffers> chances_of(const AnswerModel& answers, const Belief& belief) {
  std::array<double, kNumOffers> out{};
  for (std::size_t a = 0; a < kNumOffers; ++a) { out[a] = answers.acceptance(belief, a); }
  return out;
}

std::array<double, kNumOffers> expected_prices(const std::array<Cost, kNumOffers>& insertion,
                                               const std::array<double, kNumOffers>& chances,
                                               const BookingRules& rules) {
  const auto price = [&](std::size_t a) -> double {
    return insertion[a] == Insertion::kNowhere ? rules.unserved : insertion[a];
  };
  const double unchanged = price(kNoChange);
  std::array<double, kNumOffers> out{};
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    const double minutes = offered_minutes(a);
    const double taken = price(a) + rules.per_minute * minutes;
    const double refused = unchanged + rules.rejection + rules.walk_away * (rules.lost - unchanged);
    out[a] = chances[a] * taken + (1 - chances[a]) * refused;
  }
  out[kNoChange] = unchanged;
  return out;
}

std::int32_t best_offer(const std::array<Cost, kNumOffers>& insertion,
                        const std::array<double, kNumOffers>& chances, const BookingRules& rules) {
  const auto prices = expected_prices(insertion, chances, rules);
  std::int32_t best = kNoChange;
  for (std::int32_t a = 0; a < kOffers; ++a) {
    if (prices[a] < prices[best]) { best = a; }
  }
  return best;
}

}  // namespace penstock::booking
