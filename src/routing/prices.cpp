#include "penstock/routing/prices.h"

namespace penstock::routing {

std::array<Cost, kNumOffers> insertion_prices(const RouteSet& routes, std::int32_t request,
                                              OfferKind kind) {
  std::array<Cost, kNumOffers> prices{};
  const RequestWindows wished = windows_of(routes.instance(), request);
  const Mode mode = routes.instance().mode;
  for (std::size_t offer = 0; offer < kNumOffers; ++offer) {
    const auto action = static_cast<std::int32_t>(offer);
    prices[offer] = routes.cheapest(request, offered_windows(wished, mode, kind, action)).added;
  }
  return prices;
}

}  // namespace penstock::routing
