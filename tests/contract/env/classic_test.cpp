#include <doctest/doctest.h>

#include "penstock/core/contract/contract.h"
#include "penstock/envs/classic/classic.h"

namespace penstock {

TEST_CASE("every classic env keeps the contract") {
  for (const EnvEntry& entry : classic_envs()) {
    SUBCASE(entry.name.c_str()) { CHECK(broken_promises(check_contract(entry)) == ""); }
  }
}

TEST_CASE("the masked toy keeps the contract at the size of a real defence game") {
  for (const EnvEntry& entry : classic_envs()) {
    if (entry.name != "masked") { continue; }
    const EnvEntry large =
        with_settings(entry, {"env.num_features=1212", "env.num_actions=145"}, "test");
    CHECK(large.make_factory()->spec().obs.size() == 1212);
    CHECK(broken_promises(check_contract(large)) == "");
  }
}

}  // namespace penstock
