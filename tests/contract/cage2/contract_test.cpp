#include <doctest/doctest.h>

#include "penstock/core/contract/contract.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "support/sanitized.h"

namespace penstock {
namespace {

std::string broken(const EnvEntry& entry, std::vector<std::string> assignments = {}) {
  ContractOptions options;
  if (kSanitized) { options.max_steps = 250; }  // two episodes
  return broken_promises(
      check_contract(with_settings(entry, std::move(assignments), "test"), options));
}

EnvEntry named(const std::string& name) {
  for (const EnvEntry& entry : cage2_envs()) {
    if (entry.name == name) { return entry; }
  }
  FAIL("no env ", name);
  return {};
}

}  // namespace

TEST_CASE("cage2 keeps the contract against every red and by every rule set") {
  const EnvEntry entry = named("cage2");
  SUBCASE("as it comes") { CHECK(broken(entry) == ""); }
  SUBCASE("meander, leader board") {
    CHECK(broken(entry, {"env.red=meander", "env.rules=leaderboard", "env.wrapper=v2"}) == "");
  }
  SUBCASE("a mixture with Green, debugged") {
    CHECK(broken(entry, {"env.red=mix", "env.green=true", "env.wrapper=dbg", "env.fix_vsftpd=true",
                         "env.fix_smb=true", "env.fix_mysql=true", "env.fix_remove_flag=true",
                         "env.reward_user_sessions=true", "env.fix_ssh_pid=true",
                         "env.fix_restore_ot=true"}) == "");
  }
}

TEST_CASE("cage2 keeps the contract with all that Blue may be given") {
  const EnvEntry entry = named("cage2");
  SUBCASE("memory and beliefs") {
    CHECK(broken(entry, {"env.memory=true", "env.num_hypotheses=8", "env.red=mix"}) == "");
  }
  SUBCASE("macro actions and a mask by an order") {
    CHECK(broken(entry, {"env.macro=true", "env.mask=order", "env.red=meander",
                         "env.order=user,enterprise,op_server,op_host,defender"}) == "");
  }
  SUBCASE("a mask of all actions") { CHECK(broken(entry, {"env.mask=legal"}) == ""); }
}

TEST_CASE("cage2 keeps the contract in other networks") {
  const EnvEntry entry = named("cage2");
  SUBCASE("random ones") { CHECK(broken(entry, {"env.scenario=random", "env.red=mix"}) == ""); }
  SUBCASE("all of them as large as can be, with Green") {
    CHECK(broken(entry, {"env.scenario=random", "env.hosts=[64, 64]", "env.red=meander",
                         "env.green=true"}) == "");
  }
}

TEST_CASE("cage2_workflow keeps the contract by both rules") {
  const EnvEntry entry = named("cage2_workflow");
  SUBCASE("as it comes") { CHECK(broken(entry) == ""); }
  SUBCASE("one order, rule A") {
    CHECK(broken(entry, {"env.red=meander", "env.compliance_rule=A",
                         "env.order=op_server,user,op_host,defender,enterprise"}) == "");
  }
  SUBCASE("with memory, macro actions and a mask by the order") {
    CHECK(broken(entry, {"env.memory=true", "env.macro=true", "env.mask=order"}) == "");
  }
  SUBCASE("with a mask of all actions") {
    CHECK(broken(entry, {"env.mask=legal", "env.red=meander"}) == "");
  }
  SUBCASE("with beliefs, held to both counts") {
    CHECK(broken(entry,
                 {"env.num_hypotheses=8", "env.constraint=0.95", "env.constraint_on=both"}) == "");
  }
  SUBCASE("without the order") { CHECK(broken(entry, {"env.show_order=false"}) == ""); }
}

TEST_CASE("cage2_defender keeps the contract") {
  const EnvEntry entry = named("cage2_defender");
  SUBCASE("as it comes") { CHECK(broken(entry) == ""); }
  SUBCASE("weighted, by the rules of the head") {
    CHECK(broken(entry, {"env.red=meander", "env.rules=head", "env.wrapper=v1",
                         "env.board_weights=true"}) == "");
  }
  SUBCASE("with beliefs") { CHECK(broken(entry, {"env.num_hypotheses=16"}) == ""); }
  SUBCASE("without memory and macro actions, masked") {
    CHECK(broken(entry, {"env.memory=false", "env.macro=false", "env.mask=order"}) == "");
  }
}

TEST_CASE("cage2_red keeps the contract against every script") {
  const EnvEntry entry = named("cage2_red");
  SUBCASE("as it comes") { CHECK(broken(entry) == ""); }
  SUBCASE("several defenders") {
    CHECK(broken(entry, {"env.blue=sleep, random, react, decoy_first", "env.rules=head",
                         "env.green=true"}) == "");
  }
}

TEST_CASE("cage2_defender keeps the contract against several attackers") {
  CHECK(broken(named("cage2_defender"), {"env.red=bline, meander, meander"}) == "");
}

}  // namespace penstock
