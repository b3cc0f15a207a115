#include <doctest/doctest.h>

#include "contract/contract.h"
#include "penstock/classic/classic.h"

namespace penstock {

TEST_CASE("every classic env keeps the contract") {
  for (const EnvEntry& entry : classic_envs()) {
    SUBCASE(entry.name.c_str()) { check_contract(entry); }
  }
}

TEST_CASE("the masked toy keeps the contract at the size of a real defence game") {
  EnvEntry large;
  for (const EnvEntry& entry : classic_envs()) {
    if (entry.name == "masked") { large = entry; }
  }
  large.make_factory = [make = large.make_factory] {
    auto factory = make();
    Settings settings;
    settings.add("env.num_features", "1212", "test");
    settings.add("env.num_actions", "145", "test");
    std::vector<Field> fields = factory->fields();
    penstock::apply(fields, settings);  // unqualified, std::apply is found too
    return factory;
  };
  CHECK(large.make_factory()->spec().obs.size() == 1212);
  check_contract(large);
}

}  // namespace penstock
