#include "penstock/domains/booking/compare/scores.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <tuple>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/compare/bound.h"
#include "penstock/domains/booking/compare/evaluate.h"
#include "penstock/domains/booking/env/dvrptw.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

double reward(const DayScore& day) { return day.reward; }

/// A depot and two rides on a line, 1 km and 60 s apart each: 0 1 2 3 4.
Instance line_of_two() {
  Instance instance;
  instance.vehicles = 2;
  for (int i = 0; i < 5; ++i) {
    instance.nodes.push_back({.window = {0, 36000}, .service = i == 0 ? 0 : 60, .load = 1});
    for (int j = 0; j < 5; ++j) {
      instance.distance.push_back(1000 * std::abs(i - j));
      instance.duration.push_back(60 * std::abs(i - j));
    }
  }
  return instance;
}

}  // namespace

TEST_CASE("the paired interval knows what the days have in common") {
  std::vector<DayScore> good;
  std::vector<DayScore> bad;
  for (int i = 0; i < 100; ++i) {
    const double day = -200 + 10.0 * (i % 10);
    good.push_back({.reward = day + 1 + (i % 2 == 0 ? 0.1 : -0.1)});
    bad.push_back({.reward = day});
  }
  const Interval paired = paired_difference(good, bad, reward);
  CHECK(paired.mean == doctest::Approx(1));
  CHECK(paired.low > 0.97);
  CHECK(paired.high < 1.03);
  const Interval alone = mean_of(good, reward);
  CHECK(alone.high - alone.low > 5);
  CHECK(paired_difference(bad, bad, reward).high == 0);
}

TEST_CASE("a plan's kilometres, minutes, vehicles and time aboard") {
  const Instance instance = line_of_two();
  DayScore score;
  score_plan(instance, {{{1, 3, 2, 4}, {}}}, score);  // the rides overlap
  CHECK(score.cost == 1000 + 2000 + 1000 + 2000 + 4000);
  CHECK(score.driven_s == 600);
  CHECK(score.out_s == 600 + 4 * 60);  // it never waits
  CHECK(score.vehicles == 1);
  // Ride 1-2: 120 + service 60 + 60 over 60 direct. Ride 3-4: 60 + 60 + 120 over 60.
  CHECK(score.ride_ratio == doctest::Approx(4));
}

TEST_CASE("a table compares with what it is told to") {
  Evaluation evaluation;
  evaluation.versus = "null";
  evaluation.policies = {{.name = "null", .days = {{.reward = -10, .cost = 10000, .requests = 2}}},
                         {.name = "max", .days = {{.reward = -9, .cost = 9000, .requests = 2}}}};
  const std::string json = evaluation.json();
  CHECK(json.find("\"saving_per_served\":0.0") != std::string::npos);
  CHECK(json.find("\"saving_per_served\":0.09999") != std::string::npos);
  CHECK(json.find("\"difference\":{\"mean\":1.0,\"ci95\":[1.0,1.0]}") != std::string::npos);
  CHECK(evaluation.text().find("reward - null") != std::string::npos);
  evaluation.versus = "nul";
  CHECK_THROWS_WITH_AS(std::ignore = evaluation.json(), doctest::Contains("'null'"), UsageError);
}

TEST_CASE("no policy drives less than the bound, whose planner is better and freer") {
  DvrptwConfig config;
  config.oracle = "insertion";
  config.offer = "widen";
  const EvaluationSetup setup{.make_generator = [config] { return generator_of(config); },
                              .make_oracle = [config] { return make_search_oracle(config.oracle); },
                              .rules = rules_of(config)};
  ThreadPool pool({.num_threads = 2});
  pool.use(2);
  EvaluationOptions options{.days = 8, .seed = 3, .workers = 2};
  const Bound bound = bound_of(setup, pool, options);
  const auto always_most = [](std::size_t) { return make_offer_policy("max"); };
  const Evaluation found = evaluate_offers(setup, {{"max", always_most}}, pool, options);
  for (std::size_t day = 0; day < 8; ++day) {
    CHECK(bound.unserved[day] == 0);
    CHECK(bound.costs[day] < found.policies[0].days[day].cost);
    CHECK(bound.costs[day] > found.policies[0].days[day].cost / 2);
  }
  options.workers = 1;
  CHECK(bound_of(setup, pool, options).costs == bound.costs);
}

TEST_CASE("a missing interpreter is told with the option that names another") {
  const std::vector<PromisedDay> days = {{.instance = line_of_two(), .served = {0, 1}}};
  CHECK_THROWS_WITH_AS(std::ignore = solve_by_pyvrp(days, {.python = "/no/such/python"}),
                       doctest::Contains("--python /no/such/python"), UsageError);
}
