#include "penstock/domains/booking/slots/day.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/slots/sellers.h"

namespace penstock::booking {
namespace {

SlotsConfig config_of(const char* family, std::int64_t days = 1) {
  SlotsConfig config;
  config.family = family;
  config.customers = 30;
  config.vehicles = 3;
  config.days = days;
  config.lost = 0.5;
  config.rounds = 10;
  return config;
}

/// The least time between leaving the depot and the return, by trying every second of departure.
std::int64_t least_time_out(const Instance& instance, std::span<const std::int32_t> nodes) {
  std::int64_t best = -1;
  for (Seconds start = 0; start < 86400; ++start) {
    Seconds now = start;
    std::int32_t from = 0;
    bool in_time = true;
    for (const std::int32_t at : nodes) {
      const Node& node = instance.nodes[static_cast<std::size_t>(at)];
      now = std::max(now + instance.duration_of(from, at), node.window.earliest);
      in_time = in_time && now <= node.window.latest;
      now += node.service;
      from = at;
    }
    if (!in_time) { break; }
    const std::int64_t out = now + instance.duration_of(from, 0) - start;
    if (best < 0 || out < best) { best = out; }
  }
  return best;
}

/// Sells by a rule that uses every kind of fee; returns what sell() said, added up.
Cents play_through(SlotDay& day) {
  Cents sum = 0;
  while (!day.over()) {
    SlotOffer offer = priced_offer(day, day.call().belief, insertion_costs(day));
    offer.withheld[0] = day.num_called() % 3 == 0;
    sum += day.sell(offer.fees, offer.withheld);
  }
  return sum;
}

std::vector<Plan> plans_of(const SlotDay& day, std::size_t days) {
  std::vector<Plan> plans(days);
  for (std::size_t d = 0; d < days; ++d) { day.routes(d).store(plans[d]); }
  return plans;
}

}  // namespace

TEST_CASE("a route's time is the least that any departure gives") {
  const SlotMarket market(config_of("delivery"));
  SlotDay day;
  day.begin(market, 4);
  play_through(day);
  int routes = 0;
  const std::vector<Plan> plans = plans_of(day, 1);
  for (const auto& nodes : plans[0].routes) {
    if (nodes.empty()) { continue; }
    ++routes;
    const Instance& instance = day.episode().instance;
    // A price of 36 an hour is a cent a second.
    CHECK(route_cents(instance, nodes, {.hour = 3600}) == least_time_out(instance, nodes));
    std::int64_t metres = instance.distance_of(nodes.back(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      metres += instance.distance_of(i == 0 ? 0 : nodes[i - 1], nodes[i]);
    }
    CHECK(route_cents(instance, nodes, {.km = 1000, .vehicle = 7}) == metres + 7);
  }
  CHECK(routes > 0);
  CHECK(route_cents(day.episode().instance, {}, {.vehicle = 7}) == 0);
}

TEST_CASE("a rider's minutes are the time between pickup and drop-off") {
  Instance instance;
  instance.nodes = {{.window = {0, 86400}},
                    {.window = {1000, 2000}, .service = 60, .load = 1},
                    {.window = {1000, 5000}, .service = 60, .load = -1}};
  instance.distance = {0, 100, 100, 100, 0, 300, 100, 300, 0};
  instance.duration = instance.distance;
  const std::vector<std::int32_t> nodes = {1, 2};
  CHECK(route_cents(instance, nodes, {.ride_minute = 60}) == 300);  // a cent a second
}

TEST_CASE("what calls bring adds up to the account of the episode, to the cent") {
  for (const char* family : {"city", "delivery", "clustered"}) {
    for (const std::int64_t days : {1, 2}) {
      CAPTURE(family);
      CAPTURE(days);
      const SlotMarket market(config_of(family, days));
      SlotDay day;
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        day.begin(market, seed);
        const Cents sum = play_through(day);
        Cents plans = 0;
        std::int32_t served = 0;
        const auto all = plans_of(day, static_cast<std::size_t>(days));
        for (std::size_t d = 0; d < all.size(); ++d) {
          const Plan& plan = all[d];
          CHECK(find_violation(day.episode().instance, plan, day.served(d)).value_or("") == "");
          for (const auto& route : plan.routes) {
            plans += route_cents(day.episode().instance, route, market.prices());
            served += static_cast<std::int32_t>(route.size()) /
                      day.episode().instance.stops_per_request();
          }
        }
        const SlotTally& tally = day.tally();
        CHECK(served == tally.sold);
        CHECK(plans == day.cost());
        CHECK(sum == tally.revenue + tally.fees - plans - 50 * (tally.calls - tally.sold));
        CHECK(sum == tally.profit);
      }
    }
  }
}

TEST_CASE("a quote is what the plan then costs more") {
  SlotsConfig config = config_of("city");
  config.rounds = 0;
  const SlotMarket market(config);
  SlotDay day;
  day.begin(market, 2);
  while (!day.over()) {
    const auto quotes = day.quote();
    const std::size_t slot = day.num_called() % quotes.size();
    if (!quotes[slot].fits) { break; }
    const Cents cost = day.cost() + quotes[slot].cost;
    day.take(slot);
    CHECK(day.cost() == cost);
  }
  CHECK(day.num_called() > 5);
}

TEST_CASE("episodes are a function of config and seed, whoever sells") {
  SlotsConfig config = config_of("mix");
  config.customers = 60;
  config.customers_least = 5;
  config.vehicles_least = 2;
  const SlotMarket market(config);
  SlotDay first;
  SlotDay second;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    first.begin(market, seed);
    second.begin(market, seed);
    const Cents profit = play_through(first);
    while (!second.over()) { second.sell(SlotOffer{}.fees, SlotOffer{}.withheld); }
    REQUIRE(first.episode().calls.size() == second.episode().calls.size());
    for (std::size_t i = 0; i < first.episode().calls.size(); ++i) {
      const SlotCall& a = first.episode().calls[i];
      const SlotCall& b = second.episode().calls[i];
      CHECK(a.gumbel == b.gumbel);
      CHECK(a.revenue == b.revenue);
      CHECK(a.belief == b.belief);
    }
    second.begin(market, seed);
    CHECK(play_through(second) == profit);
  }
}

TEST_CASE("days close one after the other") {
  const SlotMarket market(config_of("delivery", 2));
  CHECK(market.cutoff(0) == doctest::Approx(2.0 / 3));
  CHECK(market.cutoff(1) == 1);
  SlotDay day;
  day.begin(market, 1);
  while (!day.over()) {
    const auto quotes = day.quote();
    CHECK(quotes[0].open == (day.call().arrival <= market.cutoff(0)));
    CHECK(quotes.back().open);
    day.sell(SlotOffer{}.fees, SlotOffer{}.withheld);
  }
}

TEST_CASE("fees are charged in steps and within limits") {
  SlotsConfig config = config_of("delivery");
  config.max_fee = 3;
  const SlotMarket market(config);
  CHECK(market.rounded_fee(1.26) == 150);
  CHECK(market.rounded_fee(-0.2) == 0);
  CHECK(market.rounded_fee(17) == 300);
  CHECK(market.rounded_fee(-17) == -300);
}

TEST_CASE("markets that cannot be are refused") {
  SlotsConfig many = config_of("delivery");
  many.days = 3;
  CHECK_THROWS_AS(SlotMarket{many}, UsageError);
  SlotsConfig closed = config_of("delivery");
  closed.close = 7;
  CHECK_THROWS_AS(SlotMarket{closed}, UsageError);
  SlotsConfig least = config_of("delivery");
  least.customers_least = 31;
  CHECK_THROWS_AS(SlotMarket{least}, UsageError);
  CHECK_THROWS_AS(SlotMarket{config_of("csv")}, UsageError);
}

}  // namespace penstock::booking
