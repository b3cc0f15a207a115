#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/env/booking.h"
#include "penstock/domains/booking/routing/instance.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// What each offer on a request, were it taken, would add to the routes by cheapest insertion;
/// Insertion::kNowhere where it does not fit. The instance holds the request's wished windows.
std::array<Cost, kNumOffers> insertion_prices(const RouteSet& routes, std::int32_t request,
                                              OfferKind kind);

/// How a price is found. insertion: the cheapest place in the routes as they are. relocate: offers
/// that insertion finds cheaper than changing nothing are priced again after moves of single
/// requests.
enum class Pricing : std::uint8_t { insertion, relocate };

/// Prices the offers to a booking's caller. Keeps its memory from booking to booking.
class Quoter {
 public:
  explicit Quoter(Pricing pricing = Pricing::insertion) : pricing_(pricing) {}
  /// Reads a booking, which must not change until the last quote.
  void load(const Booking& booking);
  [[nodiscard]] const RouteSet& routes() const { return routes_; }
  /// What each offer, were it taken, would add; Insertion::kNowhere where it does not fit.
  std::array<Cost, kNumOffers> quote(OfferKind kind);

 private:
  void move_others(OfferKind kind, std::array<Cost, kNumOffers>& prices);
  [[nodiscard]] Cost added_after_moves(const RequestWindows& windows);

  Pricing pricing_;
  const Booking* booking_ = nullptr;
  RouteSet routes_;
  Instance instance_;  // the booking's, with the windows of an offer
  RouteSet tried_;     // of instance_
  std::vector<std::int32_t> requests_;
};

/// How likely each offer is taken, by a belief.
std::array<double, kNumOffers> chances_of(const AnswerModel& answers, const Belief& belief);

/// The expected cost of making each offer now, in metres: what cheapest insertion adds, what is
/// paid for minutes when it is taken; for a refusal, and for the customer who may then leave, when
/// it is not.
std::array<double, kNumOffers> expected_prices(const std::array<Cost, kNumOffers>& insertion,
                                               const std::array<double, kNumOffers>& chances,
                                               const BookingRules& rules);
/// The offer of the least expected price; ties go to changing nothing.
std::int32_t best_offer(const std::array<Cost, kNumOffers>& insertion,
                        const std::array<double, kNumOffers>& chances, const BookingRules& rules);

}  // namespace penstock::booking
