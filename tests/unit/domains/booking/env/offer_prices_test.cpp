#include "penstock/domains/booking/env/offer_prices.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "penstock/domains/booking/routing/oracle.h"
#include "play.h"

namespace penstock::booking {
namespace {

using test::Play;

/// What each offer adds when the oracle `relocate` plans it.
std::array<Cost, kNumOffers> planned_prices(const Booking& booking, OfferKind kind) {
  const auto oracle = make_search_oracle("relocate");
  std::array<Cost, kNumOffers> out{};
  for (std::int32_t action = 0; action < kOffers; ++action) {
    Instance instance = booking.instance();
    promise(instance, booking.request(),
            offered_windows(booking.instance(), booking.request(), kind, action));
    Plan plan = booking.plan();
    RoutingProblem problem{.instance = &instance,
                           .served = booking.served(),
                           .request = booking.request(),
                           .plan = &plan};
    oracle->solve({&problem, 1});
    out[static_cast<std::size_t>(action)] =
        problem.fits ? problem.cost - booking.cost() : Insertion::kNowhere;
  }
  return out;
}

/// The largest part `values` of a row, changing nothing before others.
std::int64_t myopic_offer(const Play& play, std::size_t env) {
  const Part& at = play.env->spec().obs.part("values");
  const auto values = play.row(env).subspan(at.offset, at.size);
  const auto best = std::ranges::max_element(values);
  return *best > values[kNoChange] ? best - values.begin() : kNoChange;
}

}  // namespace

TEST_CASE("quotes by relocate are what the oracle of that name plans") {
  DvrptwConfig config;
  const auto generator = generator_of(config);
  const BookingRules rules = rules_of(config);
  const auto oracle = make_search_oracle("rr-5");
  Quoter by_insertion;
  Quoter by_relocate(Pricing::relocate);
  int cheaper = 0;
  for (const OfferKind kind : {OfferKind::shift, OfferKind::widen}) {
    Booking booking;
    for (booking.begin(*generator, 7); !booking.over();) {
      by_insertion.load(booking);
      by_relocate.load(booking);
      const auto inserted = by_insertion.quote(kind);
      const auto quoted = by_relocate.quote(kind);
      const auto planned = planned_prices(booking, kind);
      CHECK(quoted[kNoChange] == planned[kNoChange]);
      for (std::size_t a = 0; a < kNumOffers; ++a) {
        if (inserted[a] >= inserted[kNoChange]) { continue; }
        CHECK(quoted[a] == planned[a]);
        cheaper += quoted[a] < inserted[a] ? 1 : 0;
      }
      const auto answer = booking.offer(kNoChange, Flexibility::both, rules);
      CHECK(answer.stays);
      RoutingProblem problem = booking.problem();
      oracle->solve({&problem, 1});
      booking.finish(&problem, rules);
    }
  }
  CHECK(cheaper > 10);
}

TEST_CASE("rewards against a policy are nothing to whoever plays that policy") {
  for (const char* prices : {"insertion", "relocate"}) {
    DvrptwConfig config;
    config.oracle = "rr-2";
    config.offer = "widen";
    config.prices = prices;
    config.versus = "myopic";
    Play play(config, 4);
    play.reset();
    bool any = false;
    for (int t = 0; t < 60; ++t) {
      for (std::size_t i = 0; i < 4; ++i) {
        play.actions[i] = myopic_offer(play, i);
        any = any || play.actions[i] != kNoChange;
      }
      play.step();
      CHECK(std::ranges::all_of(play.reward, [](float reward) { return reward == 0; }));
    }
    CHECK(any);
  }
}

TEST_CASE("a day's rewards against null are those of the day less those of the day of null") {
  DvrptwConfig config;
  config.oracle = "rr-2";
  const auto day = [&](const char* versus, std::int64_t action) {
    DvrptwConfig as = config;
    as.versus = versus;
    Play play(as, 3);
    play.reset();
    std::ranges::fill(play.actions, action);
    for (int t = 0; t < 30; ++t) { play.step(); }
    return play.episode;
  };
  const auto widest = day("none", 3);
  const auto null = day("none", kNoChange);
  const auto difference = day("null", 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(difference[i].total_reward ==
          doctest::Approx(widest[i].total_reward - null[i].total_reward).epsilon(1e-4));
    CHECK(difference[i].stats == widest[i].stats);
  }
  CHECK(widest[0].total_reward != null[0].total_reward);
}

TEST_CASE("a day against a policy goes on from its saved state") {
  DvrptwConfig config;
  config.oracle = "rr-2";
  config.offer = "widen";
  config.versus = "myopic";
  Play whole(config, 2);
  Play resumed(config, 2);
  whole.reset();
  resumed.reset();
  for (int t = 0; t < 17; ++t) { whole.random_step(); }
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::byte> bytes;
    whole.env->save(i, bytes);
    resumed.env->load(i, bytes);
  }
  for (int t = 0; t < 40; ++t) {
    whole.random_step();
    resumed.actions = whole.actions;
    resumed.step();
    CHECK(resumed.reward == whole.reward);
  }
}

}  // namespace penstock::booking
