#pragma once
#include <span>
#include <string>
#include <vector>

#include "domains/booking/service/call.h"
#include "domains/booking/service/customers.h"
#include "domains/booking/service/day.h"
#include "penstock/domains/booking/selling/seller.h"

namespace penstock::booking::service {

/// What a network sells by.
struct Sale {
  selling::Seller& seller;
  const selling::Forecast& forecast;
  double hours_ahead = 0;  // until the first of the plans' days begins
  bool ride = false;
  std::vector<selling::PlanView> plans{};
  std::vector<selling::SlotPlace> places{};  // [slots]
};

/// What an advice on slots is made of.
struct AdviceOn {
  const std::vector<Slot>& slots;
  const std::string& date;  // of slots without one
  const std::string& today;
  const demand::Tastes& tastes;
  const Belief& belief;
  double saved;                // see PriceErrors
  const Sale* sale = nullptr;  // none: slots are shown by what this call alone is worth
};

/// {"slots", "advice"}: the quotes, each with the interval of its cost, the chance that it is taken
/// and whether to show it, and what that is expected to earn; what a network shows has its fee too,
/// and what the sale is taken to cost. Quotes are moved from.
Json advise(const AdviceOn& on, std::vector<Priced>& priced);

}  // namespace penstock::booking::service
