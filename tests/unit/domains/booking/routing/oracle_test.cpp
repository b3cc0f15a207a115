#include "penstock/domains/booking/routing/oracle.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/routing/support.h"

namespace penstock::booking::oracle_test {
namespace {

using test::DayOptions;
using test::random_day;

struct Booking {
  Instance day;
  Plan plan;
  std::vector<std::int32_t> served;
  Cost cost = 0;
};

const std::vector<DayOptions> kDays = {
    {.mode = Mode::ride},
    {.mode = Mode::deliver, .capacity = 14},
    {.mode = Mode::ride, .vehicles = 2, .window = 900},  // full: some do not fit
    {.mode = Mode::ride, .window = 3600, .max_ride = 1200, .skew = 0.2},
    {.mode = Mode::deliver, .vehicles = 2, .capacity = 99, .window = 3600, .tangle = 1},
    {.mode = Mode::ride, .vehicles = 3, .window = 3600, .max_ride = 1500, .tangle = 1},
};

std::vector<Booking> bookings(std::size_t count) {
  std::vector<Booking> made(count);
  for (std::size_t i = 0; i < count; ++i) { made[i].day = random_day(i, kDays[i % kDays.size()]); }
  return made;
}

/// Offers request r to all, in batches of this size.
void book(RoutingOracle& oracle, std::vector<Booking>& all, std::int32_t r, std::size_t batch) {
  std::vector<RoutingProblem> problems;
  for (std::size_t i = 0; i < all.size(); ++i) {
    problems.push_back(
        {.instance = &all[i].day,
         .served = all[i].served,
         .request = r,
         .seed = episode_seed(1, static_cast<std::uint32_t>(i), static_cast<std::uint64_t>(r)),
         .plan = &all[i].plan});
  }
  for (std::size_t begin = 0; begin < all.size(); begin += batch) {
    const std::size_t end = std::min(all.size(), begin + batch);
    oracle.solve(std::span(problems).subspan(begin, end - begin));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (problems[i].fits) { all[i].served.push_back(r); }
    all[i].cost = problems[i].cost;
  }
}

}  // namespace

TEST_CASE("every plan of every oracle is feasible and costs what it says") {
  for (const std::string name : {"insertion", "relocate", "rr-20"}) {
    CAPTURE(name);
    const auto oracle = make_search_oracle(name);
    std::vector<Booking> all = bookings(24);
    std::size_t refused = 0;
    for (std::int32_t r = 0; r < 30; ++r) {
      book(*oracle, all, r, all.size());
      for (const Booking& one : all) {
        REQUIRE(find_violation(one.day, one.plan, one.served).value_or("") == "");
        REQUIRE(one.cost == cost_of(one.day, one.plan));
        refused += static_cast<std::size_t>(r) + 1 - one.served.size();
      }
    }
    CHECK(refused > 0);  // or the refusals were not tested
  }
}

TEST_CASE("plans do not depend on how the batch is cut") {
  std::vector<Booking> whole = bookings(12);
  std::vector<Booking> single = bookings(12);
  const auto one = make_search_oracle("rr-10");
  const auto other = make_search_oracle("rr-10");
  for (std::int32_t r = 0; r < 30; ++r) {
    book(*one, whole, r, whole.size());
    book(r % 2 == 0 ? *other : *one, single, r, 1);
  }
  for (std::size_t i = 0; i < whole.size(); ++i) { CHECK(whole[i].plan == single[i].plan); }
}

TEST_CASE("more search is cheaper, and serves more of a full day") {
  std::vector<Cost> cost;
  std::vector<std::size_t> served;
  for (const std::string name : {"insertion", "relocate", "rr-50"}) {
    const auto oracle = make_search_oracle(name);
    std::vector<Booking> all = bookings(36);
    for (std::int32_t r = 0; r < 30; ++r) { book(*oracle, all, r, all.size()); }
    Cost sum = 0;
    std::size_t full = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      sum += i % kDays.size() < 2 ? all[i].cost : 0;
      full += i % kDays.size() == 2 ? all[i].served.size() : 0;
    }
    cost.push_back(sum);
    served.push_back(full);
  }
  CHECK(cost[1] < cost[0] * 95 / 100);
  CHECK(cost[2] < cost[1] * 98 / 100);
  CHECK(served[2] > served[0]);
}

TEST_CASE("an unknown oracle is refused by name") {
  for (const char* name : {"rr", "rr-", "rr-0", "rr-x", "rr-5x", "rr--5", "magic"}) {
    CHECK_THROWS_AS(make_search_oracle(name), UsageError);
  }
  CHECK_THROWS_WITH(make_search_oracle("magic"),
                    "oracle 'magic': expected insertion, relocate or rr-N, as in rr-50");
}

}  // namespace penstock::booking::oracle_test
