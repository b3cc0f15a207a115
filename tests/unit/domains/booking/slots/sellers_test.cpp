#include "penstock/domains/booking/slots/sellers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/slots/contest.h"
#include "penstock/domains/booking/slots/slots_env.h"

namespace penstock::booking {
namespace {

SlotsConfig small_market(const char* family) {
  SlotsConfig config;
  config.family = family;
  config.customers = 20;
  config.vehicles = 3;
  config.rounds = 5;
  return config;
}

NamedSeller named(const std::string& name) {
  return {name, [name] { return make_slot_seller(name); }};
}

double mean_profit(const SlotContest& contest, std::size_t seller) {
  double sum = 0;
  for (const SlotScore& score : contest.sellers[seller].episodes) { sum += score.profit; }
  return sum / static_cast<double>(contest.sellers[seller].episodes.size());
}

/// Rows of an env, by hand.
struct Rows {
  std::vector<float> obs = std::vector<float>(kMaxSlots * kSlotFeatures);
  std::unique_ptr<bool[]> legal = std::make_unique<bool[]>(kMaxSlots * kSlotLevels);
  Row row() { return {.obs = obs, .legal = {legal.get(), kMaxSlots * kSlotLevels}}; }
};

}  // namespace

TEST_CASE("level 1 everywhere is insertion pricing, and level 0 sells nothing") {
  const SlotMarket market(small_market("delivery"));
  SlotDay day;
  day.begin(market, 3);
  const auto myopic = make_slot_seller("myopic-bayes");
  const auto blend = make_slot_seller("blend");
  std::array<std::int64_t, kMaxSlots> levels{};
  CHECK(std::ranges::count(offer_of_levels(day, levels).withheld, true) == 6);
  levels.fill(kMyopicLevel);
  while (!day.over()) {
    const SlotOffer expected = myopic->offer(day);
    const SlotOffer offer = offer_of_levels(day, levels);
    CHECK(offer.fees == expected.fees);
    CHECK(offer.withheld == expected.withheld);
    std::array<std::int64_t, kMaxSlots> blended{};
    blended.fill(2);
    CHECK(offer_of_levels(day, blended).fees == blend->offer(day).fees);
    day.sell(offer.fees, offer.withheld);
  }
}

TEST_CASE("against insertion pricing, insertion pricing earns nothing more") {
  SlotsConfig config = small_market("city");
  config.versus = "myopic";
  SlotsEnv env(config);
  Rows rows;
  env.reset(5, rows.row());
  const std::vector<std::int64_t> levels(kMaxSlots, kMyopicLevel);
  for (bool over = false; !over;) {
    const Outcome outcome = env.step(levels, rows.row());
    CHECK(outcome.reward == 0);
    over = outcome.terminated;
  }
  CHECK(std::ranges::all_of(rows.obs, [](float x) { return x == 0; }));
}

TEST_CASE("tokens are moderate numbers at any size, and absent where there is no slot") {
  for (const std::int64_t customers : {1, 20, 120}) {
    for (const char* family : {"city", "clustered"}) {
      SlotsConfig config = small_market(family);
      config.customers = customers;
      config.days = 2;
      config.slots = 3;
      SlotsEnv env(config);
      Rows rows;
      env.reset(1, rows.row());
      const std::vector<std::int64_t> levels(kMaxSlots, 2);
      for (bool over = false; !over;) {
        for (std::size_t s = 0; s < kMaxSlots; ++s) {
          CHECK((rows.obs[s * kSlotFeatures] == 1) == (s < 6));
          CHECK(rows.legal[s * kSlotLevels]);
        }
        CHECK(std::ranges::all_of(rows.obs, [](float x) { return std::abs(x) < 10; }));
        over = env.step(levels, rows.row()).terminated;
      }
    }
  }
}

TEST_CASE("every seller plays, the same way each time, on any number of threads") {
  const SlotMarket market(small_market("delivery"));
  std::vector<NamedSeller> sellers;
  for (const std::string& name : slot_seller_names()) { sellers.push_back(named(name)); }
  ThreadPool one({.num_threads = 1});
  ThreadPool two({.num_threads = 2});
  const SlotContest first = play_contest(market, sellers, 3, 7, one);
  const SlotContest second = play_contest(market, sellers, 3, 7, two);
  for (std::size_t i = 0; i < sellers.size(); ++i) {
    CAPTURE(sellers[i].name);
    CHECK(mean_profit(first, i) == mean_profit(second, i));
  }
}

TEST_CASE("pricing beats selling at no fee, and who knows the future beats pricing") {
  const SlotMarket market(small_market("delivery"));
  ThreadPool pool({.num_threads = 1});
  const SlotContest contest =
      play_contest(market, {named("null"), named("myopic-bayes"), named("hindsight")}, 12, 1, pool);
  CHECK(mean_profit(contest, 1) > mean_profit(contest, 0));
  CHECK(mean_profit(contest, 2) > mean_profit(contest, 1));
}

TEST_CASE(
    "the programme shares a vehicle's start among sales to come, and ends as insertion pricing") {
  for (const char* family : {"city", "delivery"}) {
    SlotsConfig config = small_market(family);
    config.customers = 60;
    config.vehicles = 6;
    const SlotMarket market(config);
    SlotDay day;
    day.begin(market, 3);
    const auto programme = make_slot_seller("programme");
    const auto myopic = make_slot_seller("myopic-bayes");
    const SlotOffer early = programme->offer(day);
    const double first = *std::ranges::min_element(std::span(early.costs).first(6));
    CHECK(first < insertion_costs(day)[0] / 2);
    while (day.num_called() + 1 < day.episode().calls.size()) {
      const SlotOffer offer = programme->offer(day);
      day.sell(offer.fees, offer.withheld);
    }
    // Nearly nobody is expected after the last call.
    const SlotOffer last = programme->offer(day);
    const SlotOffer insertion = myopic->offer(day);
    for (std::size_t s = 0; s < market.num_slots(); ++s) {
      CHECK(last.withheld[s] == insertion.withheld[s]);
      if (!last.withheld[s]) { CHECK(std::abs(last.fees[s] - insertion.fees[s]) <= 300); }
    }
  }
}

TEST_CASE("every seller asks what may be asked, and sells what is open and fits") {
  SlotsConfig config = small_market("delivery");
  config.days = 2;
  config.slots = 3;
  config.vehicles = 1;  // slots fill up
  const SlotMarket market(config);
  for (const std::string& name : slot_seller_names()) {
    CAPTURE(name);
    SlotDay day;
    day.begin(market, 4);
    const auto seller = make_slot_seller(name);
    while (!day.over()) {
      const SlotOffer offer = seller->offer(day);
      const auto seen = day.quote();
      const std::vector<SlotQuote> quotes(seen.begin(), seen.end());
      for (std::size_t s = 0; s < quotes.size(); ++s) {
        if (!quotes[s].fits || offer.withheld[s]) { continue; }
        CHECK(offer.fees[s] % 50 == 0);
        CHECK(std::abs(offer.fees[s]) <= 1000);
        if (name == "null" || name == "static") { CHECK(offer.fees[s] == 0); }
        if (name == "incentive") { CHECK(offer.fees[s] <= 0); }
      }
      day.sell(offer.fees, offer.withheld);
      if (day.last_choice() == kNoPurchase) { continue; }
      const auto sold = static_cast<std::size_t>(day.last_choice());
      CHECK(quotes[sold].open);
      CHECK(quotes[sold].fits);
      CHECK_FALSE(offer.withheld[sold]);
    }
  }
}

TEST_CASE("no seller but hindsight sees whom it has before it") {
  const SlotMarket market(small_market("city"));
  for (const std::string& name : slot_seller_names()) {
    if (name == "hindsight") { continue; }
    CAPTURE(name);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto first_offer = [&](std::size_t type) {
        SlotEpisode episode;
        market.draw(seed, episode);
        episode.calls.front().type = type;
        episode.calls.front().gumbel.fill(static_cast<double>(type));
        SlotDay day;
        day.resume(market, episode, {});
        return make_slot_seller(name)->offer(day);
      };
      const SlotOffer offer = first_offer(0);
      for (std::size_t type = 1; type < 4; ++type) {
        CHECK(first_offer(type).fees == offer.fees);
        CHECK(first_offer(type).withheld == offer.withheld);
      }
    }
  }
}

TEST_CASE("a quota closes a slot") {
  SlotsConfig config = small_market("delivery");
  config.customers = 60;
  const SlotMarket market(config);
  SlotDay day;
  day.begin(market, 1);
  const auto seller = make_slot_seller("static");
  while (!day.over()) {
    const SlotOffer offer = seller->offer(day);
    day.sell(offer.fees, offer.withheld);
  }
  CHECK(*std::ranges::max_element(day.sold_by_slot()) <= 10);
}

TEST_CASE("unknown sellers are told what there is") {
  CHECK_THROWS_AS(make_slot_seller("myopc"), UsageError);
  CHECK_THROWS_AS(make_slot_seller("rollout-0"), UsageError);
  CHECK_THROWS_AS(make_slot_seller("foresight-x"), UsageError);
}

}  // namespace penstock::booking
