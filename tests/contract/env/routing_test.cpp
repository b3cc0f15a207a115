#include <doctest/doctest.h>

#include "contract/contract.h"
#include "penstock/base/config.h"
#include "penstock/routing/dvrptw.h"

namespace penstock {
namespace {

EnvEntry with(const std::vector<std::string>& assignments) {
  EnvEntry entry = routing::routing_envs().front();
  entry.make_factory = [make = entry.make_factory, assignments] {
    auto factory = make();
    Settings settings;
    settings.add("env.oracle", "insertion", "test");
    for (const std::string& each : assignments) { settings.add_assignment(each, "test"); }
    std::vector<Field> fields = factory->fields();
    penstock::apply(fields, settings);  // unqualified, std::apply is found too
    return factory;
  };
  return entry;
}

}  // namespace

TEST_CASE("dvrptw keeps the contract") {
  SUBCASE("as it comes, but for the oracle") { check_contract(with({})); }
  SUBCASE("the source's list, few vehicles, noise") {
    check_contract(with({"env.obs=list", "env.vehicles=3", "env.answer=noisy", "env.mask=bayes",
                         "env.mask_from=sample"}));
  }
  SUBCASE("the source's histogram, deliveries, customers who leave") {
    check_contract(with({"env.obs=hist", "env.mode=deliver", "env.generator=delivery",
                         "env.walk_away=0.5", "env.mask=known", "env.belief=true"}));
  }
  SUBCASE("an embedding, people who move away") {
    check_contract(with({"env.mask=learnt", "env.stay_days=2", "env.answer=logit",
                         "env.mask_from=soft", "env.offer=widen", "env.max_ride=60"}));
  }
}

}  // namespace penstock
