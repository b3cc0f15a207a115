#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/routing/oracle.h"

namespace penstock::booking {
namespace {

/// What it costs to book a day's requests one at a time.
Cost book(RoutingOracle& oracle, const Instance& day, std::uint64_t seed) {
  Plan plan;
  std::vector<std::int32_t> served;
  for (std::int32_t r = 0; r < day.num_requests(); ++r) {
    RoutingProblem problem{.instance = &day,
                           .served = served,
                           .request = r,
                           .seed = episode_seed(seed, static_cast<std::uint32_t>(r), 0),
                           .plan = &plan};
    oracle.solve({&problem, 1});
    REQUIRE(problem.fits);
    served.push_back(r);
  }
  REQUIRE(find_violation(day, plan, served).value_or("") == "");
  return cost_of(day, plan);
}

}  // namespace

// pyvrp.json is PyVRP 0.14's own: bench/booking/routing_bench.py days --count 8 --golden pyvrp.json
TEST_CASE("rr-50 ends within 2.5 % of PyVRP, which sees the whole day for a second") {
  std::ifstream file(std::string(PENSTOCK_TEST_ORACLE) + "/routing/pyvrp.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  const auto oracle = make_search_oracle("rr-50");
  for (const bool ride : {true, false}) {
    const auto days =
        make_generator(ride ? "city" : "delivery", {.mode = ride ? Mode::ride : Mode::deliver});
    const auto reference = golden.at(ride ? "ride" : "deliver").get<std::vector<double>>();
    REQUIRE(reference.size() == 8);
    double ours = 0;
    double theirs = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      Instance day;
      days->make(i + 1, day);
      ours += static_cast<double>(book(*oracle, day, i + 1));
      theirs += reference[i];
    }
    CAPTURE(ride);
    CHECK(ours <= 1.025 * theirs);
    CHECK(ours >= 0.97 * theirs);  // cheaper by more would mean another problem
  }
}

}  // namespace penstock::booking
