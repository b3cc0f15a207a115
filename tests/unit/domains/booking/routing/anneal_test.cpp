#include "penstock/domains/booking/routing/anneal.h"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/tours.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::anneal_test {
namespace {

using test::DayOptions;
using test::random_day;

const std::vector<DayOptions> kDays = {
    {.mode = Mode::ride, .requests = 40, .vehicles = 12},
    {.mode = Mode::deliver, .requests = 60, .vehicles = 20, .capacity = 10},
    {.mode = Mode::ride,
     .requests = 30,
     .vehicles = 9,
     .window = 3600,
     .max_ride = 3600,
     .tangle = 0.5},
};

std::vector<std::int32_t> all_requests(const Instance& day) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(day.num_requests()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Cost insertion_cost(const Instance& day) {
  Tours tours;
  tours.clear(day);
  for (std::int32_t r = 0; r < day.num_requests(); ++r) { tours.insert(r, tours.cheapest(r)); }
  return tours.cost();
}

}  // namespace

TEST_CASE("annealing ends with a feasible plan, well below insertion") {
  for (const DayOptions& options : kDays) {
    const Instance day = random_day(1, options);
    const Annealed found = anneal(day, {.seconds = 0, .iterations = 2000, .chains = 2});
    CHECK(found.unserved == 0);
    CHECK(found.iterations == 4000);
    CHECK(find_violation(day, found.plan, all_requests(day)).value_or("") == "");
    CHECK(found.cost == cost_of(day, found.plan));
    CHECK(found.cost < insertion_cost(day) * 9 / 10);
  }
}

TEST_CASE("with an end by iterations annealing repeats itself") {
  const Instance day = random_day(2, kDays[1]);
  const AnnealingConfig config{.seconds = 0, .iterations = 500};
  const Annealed first = anneal(day, config);
  CHECK(anneal(day, config).plan == first.plan);
  AnnealingConfig other = config;
  other.seed = 2;
  CHECK(anneal(day, other).plan != first.plan);
}

TEST_CASE("vehicles first: the fleet shrinks, and the plan still serves all") {
  for (const DayOptions& options : kDays) {
    const Instance day = random_day(3, options);
    AnnealingConfig config{.seconds = 0, .iterations = 4000, .chains = 1};
    const Annealed plain = anneal(day, config);
    config.vehicles_first = true;
    const Annealed few = anneal(day, config);
    CHECK(few.unserved == 0);
    CHECK(few.vehicles <= plain.vehicles);
    CHECK(find_violation(day, few.plan, all_requests(day)).value_or("") == "");
    CHECK(few.cost == cost_of(day, few.plan));
  }
}

TEST_CASE("a fleet that is too small leaves requests out and says how many") {
  Instance day = random_day(4, kDays[0]);
  day.vehicles = 1;
  const Annealed found = anneal(day, {.seconds = 0, .iterations = 300, .chains = 1});
  CHECK(found.unserved > 0);
  std::vector<std::int32_t> served;
  for (const std::int32_t node : found.plan.routes[0]) {
    if (node % 2 == 1) { served.push_back(day.request_of(node)); }
  }
  CHECK(static_cast<std::int32_t>(served.size()) + found.unserved == day.num_requests());
  CHECK(find_violation(day, found.plan, served).value_or("") == "");
}

TEST_CASE("annealing without an end is refused") {
  CHECK_THROWS_AS(anneal(random_day(1, kDays[0]), {.seconds = 0, .iterations = 0}), UsageError);
}

}  // namespace penstock::booking::anneal_test
