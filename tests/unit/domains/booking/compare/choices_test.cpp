#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/compare/evaluate.h"
#include "penstock/domains/booking/compare/policies.h"
#include "penstock/domains/booking/env/beliefs.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "unit/domains/booking/compare/support.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

class SameDay final : public Generator {
 public:
  explicit SameDay(Instance day) : day_(std::move(day)) {}
  void make(std::uint64_t /*seed*/, Instance& into) const override { into = day_; }
  [[nodiscard]] double side() const override { return 1000; }

 private:
  Instance day_;
};

/// Deliveries on a street, a metre a second. The one at 100 m is served at 200; the one at 300 m is
/// wished from 300 to 350, which needs another vehicle, 600 m. Ten minutes later it adds 400.
Instance street_day() {
  Instance day;
  day.mode = Mode::deliver;
  day.vehicles = 2;
  day.capacity = 4;
  day.nodes = {{{0, 10'000}, 0, 0}, {{200, 500}, 10, 1}, {{300, 350}, 10, 1}};
  test::put_on_a_street(day, {0, 100, 300});
  return day;
}

/// That day when the second customer calls.
struct SecondCall {
  SameDay generator{street_day()};
  BookingRules rules;
  Booking booking;

  explicit SecondCall(Cost per_minute) {
    rules.per_minute = per_minute;
    booking.begin(generator, 1);
    booking.offer(kNoChange, Flexibility::rigid, rules);
    RoutingProblem problem = booking.problem();
    make_search_oracle("insertion")->solve({&problem, 1});
    booking.finish(&problem, rules);
  }
  std::int32_t choice(const std::string& name, Flexibility type,
                      const Belief& belief = {0.25, 0.25, 0.25, 0.25}) const {
    const auto policy = make_offer_policy(name);
    policy->begin_day(3);
    return policy->choose({.booking = booking, .rules = rules, .type = type, .belief = belief});
  }
};

constexpr std::int32_t kTenLater = 13;

}  // namespace

TEST_CASE("a myopic offer is made when it saves more than it pays") {
  // Ten minutes save 200 m: worth asking at 19 m a minute, a tie at 20.
  CHECK(SecondCall(19).choice("myopic", Flexibility::rigid) == kTenLater);
  CHECK(SecondCall(20).choice("myopic", Flexibility::rigid) == kNoChange);
  CHECK(SecondCall(21).choice("myopic", Flexibility::rigid) == kNoChange);
}

TEST_CASE("who knows the type asks only those who agree") {
  const SecondCall call(10);
  CHECK(call.choice("myopic-known", Flexibility::later) == kTenLater);
  CHECK(call.choice("myopic-known", Flexibility::both) == kTenLater);
  CHECK(call.choice("myopic-known", Flexibility::rigid) == kNoChange);
  CHECK(call.choice("myopic-known", Flexibility::earlier) == kNoChange);
}

TEST_CASE("who believes asks when the chance is worth the refusals") {
  SecondCall call(10);
  call.rules.rejection = 50;
  // Asking gains p * (200 - 100) and loses (1 - p) * 50: from p = 1/3 on it is worth it.
  CHECK(call.choice("myopic-bayes", Flexibility::rigid, {0.34, 0.0, 0.66, 0.0}) == kTenLater);
  CHECK(call.choice("myopic-bayes", Flexibility::rigid, {0.32, 0.0, 0.68, 0.0}) == kNoChange);
  CHECK(call.choice("myopic-bayes", Flexibility::rigid, {0.2, 0.0, 0.6, 0.2}) == kTenLater);
  CHECK(call.choice("myopic-bayes", Flexibility::later, {0.0, 1.0, 0.0, 0.0}) == kNoChange);
}

TEST_CASE("the largest offer that a type allows") {
  const SecondCall call(20);
  CHECK(call.choice("max", Flexibility::later) == 15);
  CHECK(call.choice("max", Flexibility::earlier) == 0);
  CHECK(call.choice("max", Flexibility::both) == 3);
  CHECK(call.choice("max", Flexibility::rigid) == kNoChange);
}

TEST_CASE("random offers are any, masked ones any that the type allows, each as often") {
  const SecondCall call(20);
  const auto offers = [&](const std::string& name, Flexibility type) {
    const auto policy = make_offer_policy(name);
    std::map<std::int32_t, int> counts;
    const Belief belief{};
    for (std::uint64_t day = 0; day < 200; ++day) {
      policy->begin_day(day);
      for (int i = 0; i < 8; ++i) {
        ++counts[policy->choose(
            {.booking = call.booking, .rules = call.rules, .type = type, .belief = belief})];
      }
    }
    return counts;
  };
  const auto any = offers("random", Flexibility::rigid);
  CHECK(any.size() == 16);
  for (const auto& [offer, count] : any) {
    CHECK(count > 60);  // of 100, with a deviation of 10
    CHECK(count < 140);
  }
  const auto later = offers("random-masked", Flexibility::later);
  CHECK(later.size() == 4);
  for (const auto& [offer, count] : later) { CHECK(offer >= kNoChange); }
  CHECK(offers("random-masked", Flexibility::rigid).size() == 1);
  // A day's offers are a function of its seed.
  CHECK(call.choice("random", Flexibility::rigid) == call.choice("random", Flexibility::both));
}

TEST_CASE("days that the same people book teach who they are; strangers' days do not") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.customers = 8;
  config.vehicles = 8;
  const auto known_after = [&](std::int64_t days_per_stay) {
    const EvaluationSetup setup{.make_generator = [&] { return generator_of(config); },
                                .make_oracle = [] { return make_search_oracle("insertion"); },
                                .rules = rules_of(config),
                                .num_customers = 8,
                                .days_per_stay = days_per_stay};
    ThreadPool pool({.num_threads = 1});
    const auto random = [](std::size_t) { return make_offer_policy("random"); };
    return evaluate_offers(setup, {{"random", random}}, pool, {.days = 40}).policies[0].days;
  };
  const auto share = [](std::span<const DayScore> days) {
    double known = 0;
    for (const DayScore& day : days) { known += day.known_types; }
    return known / (8.0 * static_cast<double>(days.size()));
  };
  // Nothing is known of strangers: each is taken for the first type.
  const std::vector<DayScore> strangers = known_after(1);
  for (std::size_t day = 0; day < strangers.size(); ++day) {
    std::vector<Flexibility> types(8);
    draw_types(0, day, types);
    CHECK(strangers[day].known_types == std::ranges::count(types, Flexibility::later));
  }
  // Answers by the rule settle the types of those who stay in a few days.
  const std::vector<DayScore> friends = known_after(40);
  CHECK(share(std::span(friends).first(1)) < 0.6);
  CHECK(share(std::span(friends).last(20)) > 0.95);
}

TEST_CASE("an audit of the best search finds nothing, of insertion a gap") {
  DvrptwConfig config;
  config.customers = 10;
  const auto audit_of = [&](const char* oracle, double audited) {
    const EvaluationSetup setup{.make_generator = [&] { return generator_of(config); },
                                .make_oracle = [oracle] { return make_search_oracle(oracle); },
                                .rules = rules_of(config),
                                .num_customers = 10};
    ThreadPool pool({.num_threads = 1});
    const auto nothing = [](std::size_t) { return make_offer_policy("null"); };
    const EvaluationOptions options{.days = 3, .audit_share = audited};
    return evaluate_offers(setup, {{"null", nothing}}, pool, options).audits[0];
  };
  const auto itself = audit_of("rr-1000", 1);
  REQUIRE(itself);
  CHECK(itself->steps == 30);
  CHECK(itself->mean_gap == 0);
  CHECK(itself->wrong_signs == 0);
  const auto simple = audit_of("insertion", 1);
  REQUIRE(simple);
  CHECK(simple->mean_gap > 0);
  const auto some = audit_of("insertion", 0.5);
  REQUIRE(some);
  CHECK(some->steps > 5);
  CHECK(some->steps < 25);
  CHECK_FALSE(audit_of("insertion", 0));
}

TEST_CASE("what is noted of a day is what was offered, and adds up to its plan") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.customers = 10;
  const EvaluationSetup setup{.make_generator = [&] { return generator_of(config); },
                              .make_oracle = [] { return make_search_oracle("insertion"); },
                              .rules = rules_of(config),
                              .num_customers = 10,
                              .days_per_stay = 2};
  ThreadPool pool({.num_threads = 1});
  const auto random = [](std::size_t) { return make_offer_policy("random"); };
  const Evaluation found =
      evaluate_offers(setup, {{"random", random}}, pool, {.days = 3, .shown_day = 1});
  const BookingLog& log = found.logs.at(0);
  CHECK(log.shown == 1);
  REQUIRE(log.days.size() == 3);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<OfferMade>& offers = log.days[d];
    const DayScore& score = found.policies[0].days[d];
    REQUIRE(offers.size() == 10);
    std::set<std::size_t> customers;
    std::int32_t minutes = 0;
    Cost cost = 0;
    for (const OfferMade& made : offers) {
      customers.insert(made.customer);
      minutes += made.taken ? offered_minutes(made.action) : 0;
      CHECK(made.cost_before == cost);
      // The oracle is insertion: the price that was noted is what was added.
      const auto agreed = static_cast<std::size_t>(made.taken ? made.action : kNoChange);
      if (made.served) { CHECK(made.cost_after - made.cost_before == made.prices[agreed]); }
      cost = made.cost_after;
    }
    CHECK(customers.size() == 10);
    CHECK(minutes == score.minutes);
    CHECK(cost == score.cost);
  }
}
