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

std::array<double, kMaxSlots> blended_costs(SlotDay& day) {
  auto costs = insertion_costs(day);
  const double passed = day.call().arrival;
  const double usual = 2 / day.market().taste().beta;
  for (double& cost : costs) {
    if (cost != kWithheld) { cost = (1 - passed) * usual + passed * cost; }
  }
  return costs;
}

SlotOffer priced_offer(SlotDay& day, const SegmentBelief& belief, std::span<const double> costs) {
  const SlotMarket& market = day.market();
  const SlotCall& call = day.call();
  const ChoiceSegment segment = market.model_of(call).merged(belief);
  std::array<double, kMaxSlots> fees{};
  const std::size_t count = market.num_slots();
  best_fees(segment, call.revenue / kCentsOfMoney, costs.first(count),
            std::span(fees).first(count));
  SlotOffer offer{.has_costs = true};
  std::ranges::copy(costs.first(count), offer.costs.begin());
  for (std::size_t s = 0; s < count; ++s) {
    offer.withheld[s] = fees[s] == kWithheld;
    if (!offer.withheld[s]) { offer.fees[s] = market.rounded_fee(fees[s]); }
  }
  return offer;
}

}  // namespace penstock::booking
