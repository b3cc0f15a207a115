#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/generators.h"

// Prices of one answer agree with each other: who asks for less than another offer costs no more.

namespace penstock::booking {
namespace {

/// A day whose requests but the last are planned; false where one does not fit.
bool planned_day(const Generator& generator, std::uint64_t seed, OfferQuery& query) {
  query = {};
  query.kind = OfferKind::widen;
  generator.make(seed, query.instance);
  query.plan.routes.resize(static_cast<std::size_t>(query.instance.vehicles));
  query.ids.assign(static_cast<std::size_t>(query.instance.num_requests()), "");
  const auto oracle = make_search_oracle("rr-10");
  std::vector<std::int32_t> served;
  for (std::int32_t r = 0; r < query.request(); ++r) {
    RoutingProblem problem{
        .instance = &query.instance, .served = served, .request = r, .plan = &query.plan};
    oracle->solve({&problem, 1});
    if (!problem.fits) { return false; }
    served.push_back(r);
  }
  return true;
}

bool lies_in(const RequestWindows& inner, const RequestWindows& outer) {
  for (std::size_t k = 0; k < inner.size(); ++k) {
    if (inner[k].earliest < outer[k].earliest || inner[k].latest > outer[k].latest) {
      return false;
    }
  }
  return true;
}

struct Tally {
  int pairs = 0;
  int dearer = 0;    // the wider window of a pair
  int negative = 0;  // added by a request
};

void count(const OfferPrices& prices, Tally& tally) {
  for (const PricedOffer& narrow : prices.offers) {
    if (!narrow.fits) { continue; }
    tally.negative += narrow.added < -4 ? 1 : 0;  // metres: ways are rounded
    for (const PricedOffer& wide : prices.offers) {
      if (wide.action == narrow.action || !lies_in(narrow.windows, wide.windows)) { continue; }
      ++tally.pairs;
      tally.dearer += wide.fits && wide.price <= narrow.price ? 0 : 1;
    }
  }
}

}  // namespace

TEST_CASE(
    "a wider window is never dearer, by any search, and nobody is served for less than nothing") {
  for (const std::string name : {"", "relocate", "rr-10", "rr-50"}) {
    for (const Mode mode : {Mode::ride, Mode::deliver}) {
      CAPTURE(name);
      const auto generator =
          make_generator(mode == Mode::ride ? "city" : "delivery",
                         {.mode = mode, .requests = 26, .vehicles = 4, .window = 1200});
      OfferPricer pricer(name.empty() ? nullptr : make_search_oracle(name));
      Tally tally;
      OfferQuery query;
      for (std::uint64_t seed = 0; tally.pairs < 500; ++seed) {
        REQUIRE(seed < 50);
        if (planned_day(*generator, seed, query)) { count(pricer.price(query), tally); }
      }
      CHECK(tally.dearer == 0);
      CHECK(tally.negative == 0);
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
      Tally tally;
      OfferQuery query;
      for (std::uint64_t seed = 0; tally.pairs < 500; ++seed) {
        REQUIRE(seed < 50);
        if (!planned_day(*generator, seed, query)) { continue; }
        query.per_ride_minute = 300;
        const OfferPrices prices = pricer.price(query);
        count(prices, tally);
        for (const PricedOffer& offer : prices.offers) {
          if (!offer.fits) { continue; }
          const double rides = 300.0 * static_cast<double>(offer.added_ride) / 60;
          REQUIRE(offer.price == doctest::Approx(static_cast<double>(offer.added) + rides));
        }
      }
      CHECK(tally.dearer == 0);
    }
  }
}

TEST_CASE("the base is no dearer than the given plan, and the error is told with a search alone") {
  const auto generator = make_generator("city", {.requests = 26, .vehicles = 4});
  OfferQuery query;
  REQUIRE(planned_day(*generator, 3, query));
  const Cost given = cost_of(query.instance, query.plan);
  const OfferPrices inserted = OfferPricer().price(query);
  CHECK(inserted.base == given);
  CHECK_FALSE(inserted.error.has_value());
  const OfferPrices searched = OfferPricer(make_search_oracle("rr-50")).price(query);
  CHECK(searched.base <= given);
  CHECK(searched.error.value_or(-1) >= 0);
}

}  // namespace penstock::booking
