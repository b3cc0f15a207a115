#include "penstock/domains/booking/compare/policies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/booking/compare/evaluate.h"
#include "penstock/domains/booking/env/dvrptw.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

EvaluationSetup ground_of(const DvrptwConfig& config) {
  return {.make_generator = [config] { return generator_of(config); },
          .make_oracle = [config] { return make_search_oracle(config.oracle); },
          .rules = rules_of(config),
          .num_customers = static_cast<std::size_t>(config.customers),
          .days_per_stay = 3};
}

std::vector<NamedPolicy> named(const std::vector<std::string>& names) {
  std::vector<NamedPolicy> policies;
  for (const std::string& name : names) {
    policies.push_back({name, [name](std::size_t) { return make_offer_policy(name); }});
  }
  return policies;
}

/// The first of the largest values of the observation `set`, changing nothing before others.
class LargestValue final : public OfferPolicy {
 public:
  explicit LargestValue(const DvrptwConfig& config)
      : obs_writer_(obs_writer_of(config)), row_(obs_writer_.layout().size()) {}
  std::int32_t choose(const OfferContext& context) override {
    if (context.booking.request() == 0) { cache_.begin(context.booking, obs_writer_.side()); }
    cache_.follow(context.booking);
    obs_writer_.write(context.booking, cache_, context.belief, quoter_, row_);
    const float* values = row_.data() + obs_writer_.layout().part("values").offset;
    std::int32_t best = kNoChange;
    for (std::int32_t a = 0; a < kOffers; ++a) {
      if (values[a] > values[best] + 1e-6F) { best = a; }
    }
    return best;
  }

 private:
  ObsWriter obs_writer_;
  ObsCache cache_;
  Quoter quoter_;
  std::vector<float> row_;
};

/// 30 minutes earlier and 30 later, of everybody: three types in four refuse.
class AskTheMost final : public OfferPolicy {
 public:
  std::int32_t choose(const OfferContext& /*context*/) override { return 3; }
};

}  // namespace

TEST_CASE("an offer's expected price is that of both answers") {
  std::array<Cost, kNumOffers> insertion{};
  insertion.fill(5000);
  insertion[0] = 3000;  // 30 minutes earlier
  insertion[15] = Insertion::kNowhere;
  std::array<double, kNumOffers> chances{};
  chances.fill(0.25);
  const BookingRules rules{.per_minute = 20, .rejection = 1000, .unserved = 50'000};
  const auto prices = expected_prices(insertion, chances, rules);
  CHECK(prices[kNoChange] == 5000);
  CHECK(prices[0] == doctest::Approx(0.25 * (3000 + 600) + 0.75 * (5000 + 1000)));
  CHECK(prices[15] == doctest::Approx(0.25 * (50'000 + 600) + 0.75 * 6000));

  // A customer who refuses may leave: then there is no insertion, but what a lost one costs.
  const BookingRules leaving{.per_minute = 20, .rejection = 1000, .walk_away = 0.5, .lost = 60'000};
  const auto with_losses = expected_prices(insertion, chances, leaving);
  CHECK(with_losses[kNoChange] == 5000);
  CHECK(with_losses[0] ==
        doctest::Approx(0.25 * (3000 + 600) + 0.75 * (1000 + 0.5 * 5000 + 0.5 * 60'000)));
}

TEST_CASE("losing customers never pays") {
  constexpr std::int64_t kDays = 60;
  ThreadPool pool({.num_threads = 1});
  double saving_before = 1;
  for (const double walk_away : {0.0, 0.5, 1.0}) {
    CAPTURE(walk_away);
    DvrptwConfig config;
    config.oracle = "insertion";
    config.offer = "widen";
    config.walk_away = walk_away;
    std::vector<NamedPolicy> policies = named({"null", "random", "myopic"});
    policies.push_back({"insult", [](std::size_t) { return std::make_unique<AskTheMost>(); }});
    const Evaluation found =
        evaluate_offers(ground_of(config), policies, pool, {.days = kDays, .versus = "null"});
    const PolicyLine random = line_of(found, found.policy("random"));
    for (const char* name : {"random", "insult"}) {
      const PolicyLine line = line_of(found, found.policy(name));
      CAPTURE(name);
      CHECK((line.lost > 0.2) == (walk_away > 0));
      if (walk_away > 0) { CHECK(line.difference.high < -10 * 30 * line.lost); }
    }
    CHECK(random.saving < saving_before);
    saving_before = random.saving;
    CHECK(line_of(found, found.policy("null")).lost == 0);
  }
}

TEST_CASE("every policy plays the same days, whatever the threads") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.customers = 12;
  const auto play = [&](std::size_t threads) {
    ThreadPool pool({.num_threads = threads});
    pool.use(threads);
    return evaluate_offers(ground_of(config), named(offer_policy_names()), pool,
                           {.days = 20, .versus = "null", .workers = threads});
  };
  const Evaluation one = play(1);
  const Evaluation two = play(2);
  for (std::size_t p = 0; p < one.policies.size(); ++p) {
    CAPTURE(one.policies[p].name);
    for (std::size_t d = 0; d < 20; ++d) {
      CHECK(one.policies[p].days[d].reward == two.policies[p].days[d].reward);
      CHECK(one.policies[p].days[d].requests == 12);
    }
  }
  for (const DayScore& day : one.policy("null").days) {
    // Nothing is paid but kilometres: the reward telescopes to the last plan's cost.
    CHECK(day.reward == doctest::Approx(-static_cast<double>(day.cost) / 1e3));
    CHECK(day.offers == 0);
  }
  for (const DayScore& day : one.policy("max").days) { CHECK(day.taken == day.offers); }
}

TEST_CASE("the largest value of an observation is the myopic offer") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.offer = "widen";
  std::vector<NamedPolicy> policies = named({"myopic-bayes"});
  policies.push_back(
      {"values", [&](std::size_t) { return std::make_unique<LargestValue>(config); }});
  ThreadPool pool({.num_threads = 1});
  const Evaluation found = evaluate_offers(ground_of(config), policies, pool, {.days = 6});
  for (std::size_t d = 0; d < 6; ++d) {
    CHECK(found.policies[0].days[d].reward == doctest::Approx(found.policies[1].days[d].reward));
    CHECK(found.policies[0].days[d].minutes == found.policies[1].days[d].minutes);
  }
}

TEST_CASE("a misspelt policy is told with the nearest name") {
  CHECK_THROWS_WITH_AS(std::ignore = make_offer_policy("myopic-bays"),
                       doctest::Contains("'myopic-bayes'"), UsageError);
}
