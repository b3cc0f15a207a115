// Any bytes are either refused with a DataError or a query whose offers can be priced and told.
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"

namespace {

using namespace penstock::booking;

/// What an offer implies passes the checker, at the cost that was told.
void check(OfferQuery query, Cost base, const PricedOffer& offer) {
  if (!offer.fits) { return; }
  const auto first = static_cast<std::size_t>(query.instance.first_node(query.request()));
  for (int k = 0; k < query.instance.stops_per_request(); ++k) {
    query.instance.nodes[first + k].window = offer.windows[k];
  }
  for (const ChangedRoute& route : offer.routes) { query.plan.routes[route.vehicle] = route.nodes; }
  std::vector<std::int32_t> all(query.ids.size());
  std::iota(all.begin(), all.end(), 0);
  if (find_violation(query.instance, query.plan, all)) { std::abort(); }
  if (cost_of(query.instance, query.plan) - base != offer.added) { std::abort(); }
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static OfferPricer pricer;
  try {
    const OfferQuery query = parse_offer_query({reinterpret_cast<const char*>(data), size}, "fuzz");
    const OfferPrices prices = pricer.price(query);
    for (const PricedOffer& offer : prices.offers) { check(query, prices.base, offer); }
    const auto answer =
        penstock::Json::parse(offers_json(query, prices));  // throws, and so crashes
    if (answer.at("offers").empty() || answer.at("offers").size() > kOffers) { std::abort(); }
  } catch (const penstock::DataError&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
