#include <algorithm>

#include "penstock/domains/booking/slots/sellers.h"

namespace penstock::booking {

namespace {

constexpr double kCentsOfMoney = 100;

}  // namespace

std::array<double, kMaxSlots> insertion_costs(SlotDay& day) {
  std::array<double, kMaxSlots> costs{};
  const auto quotes = day.quote();
  for (std::size_t s = 0; s < quotes.size(); ++s) {
    costs[s] = quotes[s].fits ? quotes[s].cost / kCentsOfMoney : kWithheld;
  }
  return costs;
}

double blended_cost(double insertion, double passed, double beta) {
  return (1 - passed) * (2 / beta) + passed * insertion;
}

std::array<double, kMaxSlots> blended_costs(SlotDay& day) {
  auto costs = insertion_costs(day);
  for (double& cost : costs) {
    if (cost == kWithheld) { continue; }
    cost = blended_cost(cost, day.call().arrival, day.market().taste().beta);
  }
  return costs;
}

SlotOffer priced_offer(SlotDay& day, const SegmentBelief& belief, std::span<const double> costs) {
  const SlotMarket& market = day.market();
  const SlotCall& call = day.call();
  return priced_offer(market.model_of(call).merged(belief), call.revenue / kCentsOfMoney,
                      market.fee_rule(), costs.first(market.num_slots()));
}

SlotOffer priced_offer(const ChoiceSegment& caller, double revenue, const FeeRule& rule,
                       std::span<const double> costs) {
  std::array<double, kMaxSlots> fees{};
  best_fees(caller, revenue, costs, std::span(fees).first(costs.size()));
  SlotOffer offer{.has_costs = true};
  std::ranges::copy(costs, offer.costs.begin());
  for (std::size_t s = 0; s < costs.size(); ++s) {
    offer.withheld[s] = fees[s] == kWithheld;
    if (!offer.withheld[s]) { offer.fees[s] = rule.rounded(fees[s]); }
  }
  return offer;
}

}  // namespace penstock::booking
