#include <doctest/doctest.h>

#include <string>

#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/generators.h"
#include "support/nested_offers.h"

namespace penstock::booking {

TEST_CASE(
    "a wider window is never dearer, by any search, and nobody is served for less than nothing") {
  for (const std::string name : {"", "relocate", "rr-10", "rr-50"}) {
    for (const Mode mode : {Mode::ride, Mode::deliver}) {
      CAPTURE(name);
      const auto generator =
          make_generator(mode == Mode::ride ? "city" : "delivery",
                         {.mode = mode, .requests = 26, .vehicles = 4, .window = 1200});
      OfferPricer pricer(name.empty() ? nullptr : make_search_oracle(name));
      NestedPairs pairs;
      OfferQuery query;
      for (std::uint64_t seed = 0; pairs.all < 500; ++seed) {
        REQUIRE(seed < 50);
        if (planned_day(*generator, seed, "rr-10", query)) { pairs.count(pricer.price(query)); }
      }
      CHECK(pairs.dearer == 0);
      CHECK(pairs.negative == 0);
    }
  }
}

TEST_CASE("the same where rides have a price, of which timetables are a part") {
  for (const std::string name : {"", "rr-10"}) {
    for (const Seconds max_ride : {0, 1500}) {
      CAPTURE(name);
      CAPTURE(max_ride);
      const auto generator = make_generator(
          "city", {.requests = 26, .vehicles = 4, .window = 1200, .max_ride = max_ride});
      OfferPricer pricer(name.empty() ? nullptr : make_search_oracle(name));
      NestedPairs pairs;
      OfferQuery query;
      for (std::uint64_t seed = 0; pairs.all < 500; ++seed) {
        REQUIRE(seed < 50);
        if (!planned_day(*generator, seed, "rr-10", query)) { continue; }
        query.per_ride_minute = 300;
        const OfferPrices prices = pricer.price(query);
        pairs.count(prices);
        for (const PricedOffer& offer : prices.offers) {
          if (!offer.fits) { continue; }
          const double rides = 300.0 * static_cast<double>(offer.added_ride) / 60;
          REQUIRE(offer.price == doctest::Approx(static_cast<double>(offer.added) + rides));
        }
      }
      CHECK(pairs.dearer == 0);
    }
  }
}

TEST_CASE("the base is no dearer than the given plan, and the error is told with a search alone") {
  const auto generator = make_generator("city", {.requests = 26, .vehicles = 4});
  OfferQuery query;
  REQUIRE(planned_day(*generator, 3, "rr-10", query));
  const Cost given = cost_of(query.instance, query.plan);
  const OfferPrices inserted = OfferPricer().price(query);
  CHECK(inserted.base == given);
  CHECK_FALSE(inserted.error.has_value());
  const OfferPrices searched = OfferPricer(make_search_oracle("rr-50")).price(query);
  CHECK(searched.base <= given);
  CHECK(searched.error.value_or(-1) >= 0);
}

}  // namespace penstock::booking
