#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/generators.h"

// Whether the prices of one answer agree: who asks for less than another offer costs no more.

namespace penstock::booking {

/// A day whose requests but the last are planned by the oracle, as a booking system would have it;
/// false where one does not fit.
inline bool planned_day(const Generator& generator, std::uint64_t seed, const std::string& oracle,
                        OfferQuery& query) {
  query = {};
  query.kind = OfferKind::widen;
  generator.make(seed, query.instance);
  query.plan.routes.resize(static_cast<std::size_t>(query.instance.vehicles));
  query.ids.assign(static_cast<std::size_t>(query.instance.num_requests()), "");
  const auto search = make_search_oracle(oracle);
  std::vector<std::int32_t> served;
  for (std::int32_t r = 0; r < query.request(); ++r) {
    RoutingProblem problem{
        .instance = &query.instance, .served = served, .request = r, .plan = &query.plan};
    search->solve({&problem, 1});
    if (!problem.fits) { return false; }
    served.push_back(r);
  }
  return true;
}

/// Pairs of offers of which one's windows contain the other's.
struct NestedPairs {
  int all = 0;
  int dearer = 0;    // the wider one
  double worst = 0;  // metres
  int negative = 0;  // offers that add less than nothing

  void count(const OfferPrices& prices) {
    constexpr Cost kRounding = 4;  // metres: ways are rounded
    for (const PricedOffer& narrow : prices.offers) {
      if (!narrow.fits) { continue; }
      negative += narrow.added < -kRounding ? 1 : 0;
      for (const PricedOffer& wide : prices.offers) {
        if (wide.action != narrow.action && lies_in(narrow.windows, wide.windows)) {
          compare(narrow, wide);
        }
      }
    }
  }

 private:
  static bool lies_in(const RequestWindows& inner, const RequestWindows& outer) {
    for (std::size_t k = 0; k < inner.size(); ++k) {
      if (inner[k].earliest < outer[k].earliest || inner[k].latest > outer[k].latest) {
        return false;
      }
    }
    return true;
  }

  void compare(const PricedOffer& narrow, const PricedOffer& wide) {
    ++all;
    if (wide.fits && wide.price <= narrow.price) { return; }
    ++dearer;
    worst = std::max(worst, wide.price - narrow.price);
  }
};

}  // namespace penstock::booking
