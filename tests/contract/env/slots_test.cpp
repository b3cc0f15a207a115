#include <doctest/doctest.h>

#include "penstock/core/contract/contract.h"
#include "penstock/domains/booking/slots/slots_env.h"
#include "support/sanitized.h"

namespace penstock::slots_test {
namespace {

std::string broken_by_slots(std::vector<std::string> assignments) {
  ContractOptions options;
  if (kSanitized) { options.max_steps = 45; }  // two days
  return broken_promises(check_contract(
      with_settings(booking::slot_envs().front(), std::move(assignments), "test"), options));
}

}  // namespace

TEST_CASE("slots keeps the contract") {
  SUBCASE("as it comes") { CHECK(broken_by_slots({"env.customers=20"}) == ""); }
  SUBCASE("a mix of families and sizes, two days, a rival") {
    CHECK(broken_by_slots({"env.family=mix", "env.customers=30", "env.customers_least=5",
                           "env.vehicles_least=2", "env.days=2", "env.slots=4", "env.versus=myopic",
                           "env.rounds=5", "env.sale_rounds=2"}) == "");
  }
  SUBCASE("rides with a limit, lost sales") {
    CHECK(broken_by_slots({"env.family=city", "env.customers=12", "env.max_ride=40", "env.lost=2",
                           "env.versus=null"}) == "");
  }
}

}  // namespace penstock::slots_test
