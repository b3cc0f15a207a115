#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

/// A random day of a few requests on a map of 5 km, with a plan of all but the last, or nothing.
bool random_query(std::uint64_t seed, Mode mode, OfferQuery& query) {
  Random random(seed);
  Instance& day = query.instance;
  day = {};
  day.mode = mode;
  day.vehicles = 3;
  day.capacity = 3;
  day.max_ride = mode == Mode::ride && seed % 3 == 0 ? 1500 : 0;
  query.kind = seed % 2 == 0 ? OfferKind::shift : OfferKind::widen;
  const std::int32_t requests = 6;
  const auto count = static_cast<std::size_t>(1 + requests * day.stops_per_request());
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back({random.uniform(0, 5000), random.uniform(0, 5000)});
  }
  for (const Point& a : points) {
    for (const Point& b : points) {
      const auto way = static_cast<std::int32_t>(std::hypot(a.x - b.x, a.y - b.y));
      day.distance.push_back(way);
      day.duration.push_back(way / 6);
    }
  }
  day.nodes.assign(count, Node{{0, 86400}, 60, 0});
  day.nodes[0].service = 0;
  for (std::int32_t r = 0; r < requests; ++r) {
    const auto first = static_cast<std::size_t>(day.first_node(r));
    const auto begin = static_cast<Seconds>(28800 + random.below(3600));
    day.nodes[first] = {{begin, begin + 900}, 60, 1};
    if (mode == Mode::deliver) { continue; }
    const Seconds later = 60 + day.duration_of(day.first_node(r), day.first_node(r) + 1);
    day.nodes[first + 1] = {{begin + later, begin + later + 900}, 60, -1};
  }
  query.ids.assign(requests, "");
  std::vector<std::int32_t> served;
  query.plan.routes.assign(3, {});
  const auto oracle = make_search_oracle("insertion");
  for (std::int32_t r = 0; r + 1 < requests; ++r) {
    query.ids[static_cast<std::size_t>(r)] = std::string(1, static_cast<char>('a' + r));
    RoutingProblem problem{.instance = &day, .served = served, .request = r, .plan = &query.plan};
    oracle->solve({&problem, 1});
    if (!problem.fits) { return false; }
    served.push_back(r);
  }
  query.ids.back() = "new";
  return true;
}

/// The least that an offer adds, over all vehicles and positions; the checker says what fits.
std::optional<Cost> least_added(const OfferQuery& query, const RequestWindows& windows) {
  Instance day = query.instance;
  promise(day, query.request(), windows);
  std::vector<std::int32_t> all(static_cast<std::size_t>(day.num_requests()));
  std::iota(all.begin(), all.end(), 0);
  const std::int32_t node = day.first_node(query.request());
  std::optional<Cost> least;
  for (std::size_t v = 0; v < query.plan.routes.size(); ++v) {
    const auto size = static_cast<std::ptrdiff_t>(query.plan.routes[v].size());
    for (std::ptrdiff_t i = 0; i <= size; ++i) {
      for (std::ptrdiff_t j = i; j <= (day.mode == Mode::ride ? size : i); ++j) {
        Plan plan = query.plan;
        auto& route = plan.routes[v];
        if (day.mode == Mode::ride) { route.insert(route.begin() + j, node + 1); }
        route.insert(route.begin() + i, node);
        if (find_violation(day, plan, all)) { continue; }
        const Cost added = cost_of(day, plan) - cost_of(day, query.plan);
        least = std::min(least.value_or(added), added);
      }
    }
  }
  return least;
}

std::vector<Seconds> earliest_by_trying(const Instance& day,
                                        const std::vector<std::int32_t>& route) {
  std::vector<Seconds> best(route.size(), 1000);
  std::vector<Seconds> start(route.size());
  const std::function<void(std::size_t)> place = [&](std::size_t i) {
    if (i == route.size()) {
      for (std::size_t k = 0; k < i; ++k) { best[k] = std::min(best[k], start[k]); }
      return;
    }
    const Node& stop = day.nodes[static_cast<std::size_t>(route[i])];
    const Seconds free = i == 0 ? day.duration_of(0, route[0])
                                : start[i - 1] +
                                      day.nodes[static_cast<std::size_t>(route[i - 1])].service +
                                      day.duration_of(route[i - 1], route[i]);
    for (Seconds t = std::max(free, stop.window.earliest); t <= stop.window.latest; ++t) {
      if (route[i] % 2 == 0) {
        const auto up = static_cast<std::size_t>(
            std::find(route.begin(), route.end(), route[i] - 1) - route.begin());
        const Node& pickup = day.nodes[static_cast<std::size_t>(route[up])];
        if (t - start[up] - pickup.service > day.max_ride) { break; }
      }
      start[i] = t;
      place(i + 1);
    }
  };
  place(0);
  return best;
}

}  // namespace

TEST_CASE("every offer is priced at the cheapest of all places, and ranked by that") {
  int fits = 0;
  int refused = 0;
  int queries = 0;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    CAPTURE(seed);
    OfferQuery query;
    if (!random_query(seed, seed % 4 < 2 ? Mode::ride : Mode::deliver, query)) { continue; }
    ++queries;
    const std::vector<PricedOffer> offers = OfferPricer().price(query).offers;
    const bool moves = query.instance.mode == Mode::deliver && query.kind == OfferKind::shift;
    REQUIRE(offers.size() == (moves ? 7 : 16));  // windows that are one and the same are one offer
    std::vector<std::int32_t> actions;
    for (const PricedOffer& offer : offers) {
      actions.push_back(offer.action);
      const std::optional<Cost> least = least_added(query, offer.windows);
      REQUIRE(offer.fits == least.has_value());
      if (offer.fits) { REQUIRE(offer.added == *least); }
      (offer.fits ? fits : refused) += 1;
    }
    for (std::size_t i = 1; i < offers.size(); ++i) {
      const PricedOffer& a = offers[i - 1];
      const PricedOffer& b = offers[i];
      REQUIRE(a.fits >= b.fits);
      if (!b.fits) {
        if (!a.fits) { REQUIRE(a.action < b.action); }
        continue;
      }
      REQUIRE(a.added <= b.added);
      if (a.added < b.added) { continue; }
      REQUIRE(offered_minutes(a.action) <= offered_minutes(b.action));
      if (offered_minutes(a.action) == offered_minutes(b.action)) { REQUIRE(a.action < b.action); }
    }
    std::ranges::sort(actions);
    CHECK(std::ranges::adjacent_find(actions) == actions.end());
    CHECK(std::ranges::binary_search(actions, kNoChange));
  }
  CHECK(queries > 12);
  CHECK(fits > 100);
  CHECK(refused > 10);
}

TEST_CASE("the routes of an offer are a plan that holds and costs what it says") {
  for (const char* name : {"", "rr-20"}) {
    CAPTURE(name);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      OfferQuery query;
      if (!random_query(seed, seed % 2 == 0 ? Mode::ride : Mode::deliver, query)) { continue; }
      OfferPricer pricer(*name != 0 ? make_search_oracle(name) : nullptr);
      const OfferPrices prices = pricer.price(query);
      for (const PricedOffer& offer : prices.offers) {
        if (!offer.fits) { continue; }
        Instance day = query.instance;
        promise(day, query.request(), offer.windows);
        Plan plan = query.plan;
        for (const ChangedRoute& route : offer.routes) {
          plan.routes[static_cast<std::size_t>(route.vehicle)] = route.nodes;
        }
        std::vector<std::int32_t> all(static_cast<std::size_t>(day.num_requests()));
        std::iota(all.begin(), all.end(), 0);
        REQUIRE(find_violation(day, plan, all).value_or("") == "");
        REQUIRE(cost_of(day, plan) - prices.base == offer.added);
      }
    }
  }
}

TEST_CASE("a pricer that was asked before answers as a new one does") {
  OfferQuery first;
  OfferQuery second;
  std::uint64_t seed = 40;
  while (!random_query(seed, Mode::ride, first)) { ++seed; }
  while (!random_query(++seed, Mode::deliver, second)) {}
  OfferPricer pricer;
  OfferPricer searcher(make_search_oracle("rr-5"));
  pricer.price(first);
  searcher.price(first);
  CHECK(offers_json(second, pricer.price(second)) ==
        offers_json(second, OfferPricer().price(second)));
  CHECK(offers_json(second, searcher.price(second)) ==
        offers_json(second, OfferPricer(make_search_oracle("rr-5")).price(second)));
}

TEST_CASE("starts are the earliest of all schedules by the second") {
  Random random(31);
  int limited = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Instance day;
    day.max_ride = static_cast<Seconds>(2 + random.below(5));
    day.nodes.resize(7);
    day.nodes[0].window = {0, 60};
    for (std::size_t i = 1; i < 7; ++i) {
      const auto begin = static_cast<Seconds>(random.below(8));
      day.nodes[i] = {
          {begin, begin + 5}, static_cast<Seconds>(random.below(2)), i % 2 == 1 ? 1 : -1};
    }
    for (int i = 0; i < 49; ++i) { day.duration.push_back(static_cast<Seconds>(random.below(3))); }
    const std::vector<std::vector<std::int32_t>> routes = {
        {1, 3, 2, 4, 5, 6}, {1, 3, 5, 2, 4, 6}, {1, 3, 5, 6, 4, 2}, {5, 1, 6, 3, 2, 4}};
    const std::vector<std::int32_t>& route = routes[random.below(4)];
    const std::vector<Seconds> expected = earliest_by_trying(day, route);
    if (expected[0] == 1000) { continue; }  // no schedule at all
    REQUIRE(starts_of(day, day.nodes, route) == expected);
    day.max_ride = 0;
    limited += starts_of(day, day.nodes, route) == expected ? 0 : 1;
  }
  CHECK(limited > 20);  // where the rides put something off
}

TEST_CASE("nothing is said of savings where changing nothing does not fit") {
  OfferQuery query;
  std::uint64_t seed = 0;
  OfferPrices prices;
  const std::vector<PricedOffer>& offers = prices.offers;
  const auto unchanged_fits = [&] {
    return std::ranges::any_of(
        offers, [](const PricedOffer& offer) { return offer.action == kNoChange && offer.fits; });
  };
  do {
    REQUIRE(seed < 2000);
    if (!random_query(seed++, Mode::deliver, query)) { continue; }
    query.instance.vehicles = 1;  // the plan of the first vehicle alone
    query.plan.routes.resize(1);
    prices = OfferPricer().price(query);
  } while (offers.empty() || unchanged_fits() || !offers[0].fits);
  const std::string answer = offers_json(query, prices);
  const auto count = [&](std::string_view word) {
    std::size_t found = 0;
    for (std::size_t at = answer.find(word); at != std::string::npos;
         at = answer.find(word, at + 1)) {
      ++found;
    }
    return found;
  };
  CHECK(count("saved_km") == 0);
  CHECK(count("\"feasible\": true") > 0);
  CHECK(count("\"feasible\": false") > 0);
  CHECK(count("added_km") == count("\"feasible\": true"));
  CHECK(count("\"routes\"") == count("\"feasible\": true"));
}

}  // namespace penstock::booking
