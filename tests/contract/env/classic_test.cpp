#include <doctest/doctest.h>

#include "penstock/core/contract/contract.h"
#include "penstock/envs/classic/classic.h"
#include "support/sanitized.h"

namespace penstock::classic_test {
namespace {

std::string broken(const EnvEntry& entry) {
  ContractOptions options;
  if (kSanitized) { options.max_steps = 550; }  // more than the longest episode
  return broken_promises(check_contract(entry, options));
}

}  // namespace

TEST_CASE("every classic env keeps the contract") {
  for (const EnvEntry& entry : classic_envs()) {
    SUBCASE(entry.name.c_str()) { CHECK(broken(entry) == ""); }
  }
}

TEST_CASE("the masked toy keeps the contract at the size of a real defence game" *
          doctest::skip(kSanitized)) {
  for (const EnvEntry& entry : classic_envs()) {
    if (entry.name != "masked") { continue; }
    const EnvEntry large =
        with_settings(entry, {"env.num_features=1212", "env.num_actions=145"}, "test");
    CHECK(large.make_factory()->spec().obs.size() == 1212);
    CHECK(broken(large) == "");
  }
}

}  // namespace penstock::classic_test
