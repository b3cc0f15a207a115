#include <doctest/doctest.h>

#include "penstock/core/contract/contract.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "support/sanitized.h"

namespace penstock::routing_test {
namespace {

std::string broken(std::vector<std::string> assignments) {
  assignments.insert(assignments.begin(), "env.oracle=insertion");
  ContractOptions options;
  if (kSanitized) { options.max_steps = 70; }  // two days
  return broken_promises(check_contract(
      with_settings(booking::routing_envs().front(), std::move(assignments), "test"), options));
}

}  // namespace

TEST_CASE("dvrptw keeps the contract") {
  SUBCASE("as it comes, but for the oracle") { CHECK(broken({}) == ""); }
  SUBCASE("the list, few vehicles, noise") {
    CHECK(broken({"env.obs=list", "env.vehicles=3", "env.answer=noisy", "env.mask=bayes",
                  "env.mask_from=sample"}) == "");
  }
  SUBCASE("the histogram, deliveries, customers who leave") {
    CHECK(broken({"env.obs=hist", "env.mode=deliver", "env.generator=delivery", "env.walk_away=0.5",
                  "env.mask=known", "env.belief=true"}) == "");
  }
  SUBCASE("an embedding, people who move away") {
    CHECK(broken({"env.mask=learnt", "env.stay_days=2", "env.answer=logit", "env.mask_from=soft",
                  "env.offer=widen", "env.max_ride=60"}) == "");
  }
}

}  // namespace penstock::routing_test
