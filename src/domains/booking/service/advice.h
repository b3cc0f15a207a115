#pragma once
#include <span>
#include <string>
#include <vector>

#include "domains/booking/service/call.h"
#include "domains/booking/service/customers.h"
#include "domains/booking/service/day.h"

namespace penstock::booking::service {

/// What an advice on slots is made of.
struct AdviceOn {
  const std::vector<Slot>& slots;
  const std::string& date;  // of slots without one
  const std::string& today;
  const demand::Tastes& tastes;
  const Belief& belief;
  double saved;  // see PriceErrors
};

/// {"slots", "advice"}: the quotes, each with the interval of its cost, the chance that it is taken
/// and whether to show it, and what that is expected to earn. Quotes are moved from.
Json advise(const AdviceOn& on, std::vector<Priced>& priced);

}  // namespace penstock::booking::service
