#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/routing/route_set.h"

namespace penstock::booking {

/// An offer and what became of it.
struct OfferMade {
  std::size_t customer = 0;               // who called
  RequestWindows wished{};                // before the offer
  std::array<Cost, kNumOffers> prices{};  // that each offer would have added, by cheapest insertion
  std::int32_t action = 0;                // the offer, 0 to 15
  bool taken = false;
  bool served = false;
  bool left = false;     // refused and went away
  Cost cost_before = 0;  // of the plan
  Cost cost_after = 0;
};

/// What was offered under a policy, and how a day of it ended.
/// It owns all of it: the evaluation may be gone.
struct BookingLog {
  std::vector<std::vector<OfferMade>> days;  // [days][requests, in the order of their calls]
  std::size_t shown = 0;                     // the day that the rest is of
  Instance instance;                         // windows as promised
  Plan plan;

  [[nodiscard]] const std::vector<OfferMade>& shown_offers() const { return days.at(shown); }
};

}  // namespace penstock::booking
