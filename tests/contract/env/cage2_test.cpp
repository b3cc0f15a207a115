#include <doctest/doctest.h>

#include "contract/contract.h"
#include "penstock/base/config.h"
#include "penstock/cage2/cage2.h"

namespace penstock {
namespace {

/// The env with some keys set.
EnvEntry with(const EnvEntry& entry, const std::vector<std::string>& assignments) {
  EnvEntry changed = entry;
  changed.make_factory = [make = entry.make_factory, assignments] {
    auto factory = make();
    Settings settings;
    for (const std::string& each : assignments) { settings.add_assignment(each, "test"); }
    std::vector<Field> fields = factory->fields();
    penstock::apply(fields, settings);  // unqualified, std::apply is found too
    return factory;
  };
  return changed;
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
  SUBCASE("as it comes") { check_contract(entry); }
  SUBCASE("meander, leader board") {
    check_contract(with(entry, {"env.red=meander", "env.rules=leaderboard", "env.wrapper=v2"}));
  }
  SUBCASE("a mixture with Green, debugged") {
    check_contract(with(entry, {"env.red=mix", "env.green=true", "env.wrapper=dbg",
                                "env.fix_vsftpd=true", "env.fix_smb=true", "env.fix_mysql=true",
                                "env.fix_remove_flag=true", "env.reward_user_sessions=true",
                                "env.fix_ssh_pid=true", "env.fix_restore_ot=true"}));
  }
}

TEST_CASE("cage2_workflow keeps the contract by both rules") {
  const EnvEntry entry = named("cage2_workflow");
  SUBCASE("as it comes") { check_contract(entry); }
  SUBCASE("one order, rule A") {
    check_contract(with(entry, {"env.red=meander", "env.compliance_rule=A",
                                "env.order=op_server,user,op_host,defender,enterprise"}));
  }
  SUBCASE("without the order") { check_contract(with(entry, {"env.show_order=false"})); }
}

TEST_CASE("cage2_defender keeps the contract") {
  const EnvEntry entry = named("cage2_defender");
  SUBCASE("as it comes") { check_contract(entry); }
  SUBCASE("weighted, by the rules of the head") {
    check_contract(with(
        entry, {"env.red=meander", "env.rules=head", "env.wrapper=v1", "env.board_weights=true"}));
  }
}

}  // namespace penstock
