#include "penstock/domains/cage2/sim/world.h"

#include <doctest/doctest.h>

#include <set>
#include <vector>

namespace penstock::cage2::world_test {
namespace {

using namespace host;

constexpr std::uint8_t number(Exploit exploit) { return static_cast<std::uint8_t>(exploit); }

RedReport scan(World& world, std::uint8_t host) {
  return world.red({.action = RedAction::discover_services, .target = host});
}
RedReport exploit(World& world, std::uint8_t host, Exploit by, bool detected = true) {
  return world.red(
      {.action = RedAction::exploit, .target = host, .exploit = number(by), .detected = detected});
}
RedReport escalate(World& world, std::uint8_t host, std::uint8_t session = 0) {
  return world.red({.action = RedAction::escalate, .target = host, .session = session});
}
RedReport impact(World& world) {
  return world.red({.action = RedAction::impact, .target = kOpServer0});
}
Flag blue(World& world, BlueKind kind, std::uint8_t host) { return world.blue({kind, host}).flag; }
Flag place(World& world, Decoy decoy, std::uint8_t host) {
  return world.blue(blue_move(decoy_index(decoy, host))).flag;
}
/// One step: Blue's decoy or nothing, then a red report, seen through the wrapper.
Activity seen(World& world, const RedReport& red, std::uint8_t decoyed = kNone) {
  return activity(world.observe({Flag::yes, decoyed, kNone}, red.events, {}), red.events.host);
}
Rules with_wrapper(Wrapper wrapper) {
  Rules rules;
  rules.wrapper = wrapper;
  return rules;
}
/// Red on Op_Server0 as root, with the service known.
World server_taken(const Rules& rules = {}) {
  World world(rules);
  scan(world, kEnterprise0);
  exploit(world, kEnterprise0, Exploit::ssh_brute_force);
  scan(world, kOpServer0);
  exploit(world, kOpServer0, Exploit::ssh_brute_force);
  escalate(world, kOpServer0);
  return world;
}

TEST_CASE("actions are numbered as the challenge numbers them") {
  CHECK(action_name(0) == "Sleep");
  CHECK(action_name(1) == "Monitor");
  CHECK(action_name(2) == "Analyse Defender");
  CHECK(action_name(27) == "Remove User4");
  CHECK(action_name(28) == "DecoyApache Defender");
  CHECK(action_name(54) == "DecoyHarakaSMPT Defender");
  CHECK(action_name(131) == "DecoyVsftpd User4");
  CHECK(action_name(139) == "Restore Op_Server0");
  CHECK(action_name(144) == "Restore User4");
  for (std::int64_t i = 0; i < 145; ++i) {
    const BlueMove move = blue_move(i);
    CHECK(action_index(move.kind, move.host) == i);
  }
}

TEST_CASE("decoys fit where the scenario lets them") {
  const std::vector<std::set<int>> fits = {{0, 1, 4, 5, 6, 7, 8, 9, 10},
                                           {2, 3, 10},
                                           {0, 1, 4, 5, 6, 7},
                                           {8, 9},
                                           {10, 11},
                                           {8, 9},
                                           {0, 1, 4, 5, 6, 7, 8, 9, 10},
                                           {0, 1, 4, 5, 6, 7, 11, 12}};
  for (std::size_t k = 0; k < kNumDecoys; ++k) {
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      World world({});
      const bool placed = place(world, static_cast<Decoy>(k), h) == Flag::yes;
      CHECK_MESSAGE(placed == (fits[k].count(h) == 1), "decoy ", k, " host ", int{h});
    }
  }
}

TEST_CASE("a decoy is placed once, Vsftpd any number of times") {
  for (std::size_t k = 0; k < kNumDecoys; ++k) {
    const auto decoy = static_cast<Decoy>(k);
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      World world({});
      if (place(world, decoy, h) == Flag::no) { continue; }
      const HostState before = world.at(h);
      const Flag again = place(world, decoy, h);
      CHECK((again == Flag::yes) == (decoy == Decoy::vsftpd));
      CHECK(world.at(h).open_ports == before.open_ports);
      CHECK(world.at(h).num_decoys == before.num_decoys + (decoy == Decoy::vsftpd ? 1 : 0));
    }
  }
  Rules fixed;
  fixed.fix_vsftpd = true;
  World world(fixed);
  CHECK(place(world, Decoy::vsftpd, kEnterprise0) == Flag::yes);
  CHECK(place(world, Decoy::vsftpd, kEnterprise0) == Flag::no);
}

TEST_CASE("Remove ends what was reported and is not privileged, Restore ends all") {
  World world({});
  scan(world, kUser4);
  exploit(world, kUser4, Exploit::http_rfi, true);    // session 0: reported
  exploit(world, kUser4, Exploit::http_rfi, false);   // session 1: not
  exploit(world, kUser4, Exploit::haraka_rce, true);  // session 2: reported, root
  REQUIRE(world.at(kUser4).num_sessions == 3);
  CHECK(blue(world, BlueKind::remove, kUser4) == Flag::yes);
  CHECK(world.at(kUser4).num_sessions == 2);
  CHECK(world.at(kUser4).privileged == 0b10);
  CHECK(blue(world, BlueKind::restore, kUser4) == Flag::yes);
  CHECK(world.at(kUser4).num_sessions == 0);
  CHECK(world.at(kUser4).known_ports != 0);
}

TEST_CASE("Remove leaves the file, so that Analyse still says privileged") {
  World world({});
  scan(world, kUser3);
  exploit(world, kUser3, Exploit::http_rfi);
  blue(world, BlueKind::remove, kUser3);
  REQUIRE(world.at(kUser3).num_sessions == 0);
  CHECK(world.blue({BlueKind::analyse, kUser3}).analysed == kUser3);
  blue(world, BlueKind::restore, kUser3);
  CHECK(world.blue({BlueKind::analyse, kUser3}).analysed == kNone);
}

TEST_CASE("brute-forced sessions cannot be removed, unless that is fixed") {
  Rules fixed;
  fixed.fix_ssh_pid = true;
  for (const Rules& rules : {Rules{}, fixed}) {
    World world(rules);
    scan(world, kEnterprise0);
    exploit(world, kEnterprise0, Exploit::ssh_brute_force);
    blue(world, BlueKind::remove, kEnterprise0);
    CHECK(world.at(kEnterprise0).num_sessions == (rules.fix_ssh_pid ? 0 : 1));
  }
}

TEST_CASE("Remove says whether it removed, once that is fixed") {
  Rules fixed;
  fixed.fix_remove_flag = true;
  World world(fixed);
  CHECK(blue(world, BlueKind::remove, kUser3) == Flag::no);
  scan(world, kUser3);
  exploit(world, kUser3, Exploit::http_rfi);
  CHECK(blue(world, BlueKind::remove, kUser3) == Flag::yes);
  CHECK(blue(world, BlueKind::remove, kUser3) == Flag::no);
  exploit(world, kUser3, Exploit::haraka_rce);
  CHECK(blue(world, BlueKind::remove, kUser3) == Flag::no);
}

TEST_CASE("User0 keeps red's own session through a Restore") {
  World world({});
  blue(world, BlueKind::restore, kUser0);
  CHECK(world.at(kUser0).num_sessions == 1);
  CHECK(world.at(kUser0).privileged == 1);
  CHECK(world.cost_tenths() == 0);
}

TEST_CASE("the operational subnet is reached through an enterprise server") {
  World world({});
  CHECK(scan(world, kOpServer0).flag == Flag::yes);
  CHECK(world.at(kOpServer0).known_ports == 0);
  scan(world, kEnterprise1);
  exploit(world, kEnterprise1, Exploit::ssh_brute_force);
  CHECK(scan(world, kOpServer0).events.count == 1);
  CHECK(world.at(kOpServer0).known_ports != 0);
  blue(world, BlueKind::restore, kEnterprise1);
  CHECK(exploit(world, kOpServer0, Exploit::ssh_brute_force).flag == Flag::no);
}

TEST_CASE("an impact costs ten a step until Restore, which disarms later ones unless fixed") {
  Rules fixed;
  fixed.fix_restore_ot = true;
  for (const Rules& rules : {Rules{}, fixed}) {
    World world = server_taken(rules);
    CHECK(world.cost_tenths() == 10);
    CHECK(impact(world).flag == Flag::yes);
    CHECK(world.cost_tenths() == 110);
    blue(world, BlueKind::restore, kOpServer0);
    CHECK(world.cost_tenths() == 0);
    exploit(world, kOpServer0, Exploit::ssh_brute_force);  // a user's session suffices
    CHECK(impact(world).flag == Flag::yes);
    CHECK(world.cost_tenths() == (rules.fix_restore_ot ? 100 : 0));
  }
}

TEST_CASE("user sessions cost nothing, unless they are made to") {
  Rules paid;
  paid.reward_user_sessions = true;
  for (const Rules& rules : {Rules{}, paid}) {
    World world(rules);
    scan(world, kEnterprise1);
    exploit(world, kEnterprise1, Exploit::http_rfi);
    CHECK(world.cost_tenths() == (rules.reward_user_sessions ? 10 : 0));
    escalate(world, kEnterprise1);
    CHECK(world.cost_tenths() == 10);
  }
}

TEST_CASE("EternalBlue and User3's MySQL work once they are fixed") {
  Rules fixed;
  fixed.fix_smb = fixed.fix_mysql = true;
  for (const Rules& rules : {Rules{}, fixed}) {
    World world(rules);
    const Flag expected = rules.fix_smb ? Flag::yes : Flag::no;
    scan(world, kEnterprise1);
    CHECK(exploit(world, kEnterprise1, Exploit::eternal_blue).flag == expected);
    scan(world, kUser3);
    CHECK(exploit(world, kUser3, Exploit::sql_injection).flag == expected);
    const auto sql = static_cast<std::uint8_t>(1U << number(Exploit::sql_injection));
    CHECK(((world.exploit_options(kUser3) & sql) != 0) == rules.fix_mysql);
  }
}

TEST_CASE("on the leader board's day ports were never forgotten and mail servers broke") {
  const auto rules_with = [](bool ghost_ports, bool mail_breaks) {
    Rules rules;
    rules.ghost_ports = ghost_ports;
    rules.mail_breaks = mail_breaks;
    return rules;
  };
  for (const Rules& rules : {rules_with(false, false), rules_with(true, false),
                             rules_with(false, true), rules_with(true, true)}) {
    World world(rules);
    place(world, Decoy::haraka, kEnterprise0);
    scan(world, kEnterprise0);
    blue(world, BlueKind::restore, kEnterprise0);
    scan(world, kEnterprise0);
    const auto haraka = static_cast<std::uint8_t>(1U << number(Exploit::haraka_rce));
    CHECK(((world.exploit_options(kEnterprise0) & haraka) != 0) == rules.ghost_ports);

    scan(world, kUser4);
    blue(world, BlueKind::restore, kUser4);
    const RedReport mail = exploit(world, kUser4, Exploit::haraka_rce);
    CHECK((mail.flag == Flag::no) == rules.mail_breaks);
    CHECK(mail.events.count == (rules.mail_breaks ? 1 : 2));
  }
}

TEST_CASE("what each wrapper makes of events") {
  for (const Wrapper wrapper : {Wrapper::v1, Wrapper::v2, Wrapper::dbg}) {
    World world(with_wrapper(wrapper));
    CHECK(seen(world, scan(world, kUser4)) == Activity::scan);
    CHECK(seen(world, exploit(world, kUser4, Exploit::http_rfi, true)) == Activity::exploit);
    CHECK(mark(world.obs(), kUser4) == Mark::user);
    CHECK(seen(world, exploit(world, kUser4, Exploit::http_rfi, false)) == Activity::scan);
    CHECK(seen(world, scan(world, kDefender)) == Activity::scan);
    CHECK(seen(world, exploit(world, kDefender, Exploit::ssh_brute_force)) == Activity::exploit);
    world.observe({}, escalate(world, kUser4).events, {});
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      CHECK(activity(world.obs(), h) == Activity::none);
    }
  }
}

TEST_CASE("a decoy placed in the same step hides a scan in v1, not in v2") {
  for (const Wrapper wrapper : {Wrapper::v1, Wrapper::v2, Wrapper::dbg}) {
    World world(with_wrapper(wrapper));
    place(world, Decoy::haraka, kEnterprise0);
    const Activity shown = seen(world, scan(world, kEnterprise0), kEnterprise0);
    CHECK((shown == Activity::scan) == (wrapper == Wrapper::v2));
  }
}

TEST_CASE("an alarm lowers a privileged mark to user, and Analyse raises it") {
  World world({});
  scan(world, kUser4);
  RedReport red = exploit(world, kUser4, Exploit::haraka_rce);
  world.observe({Flag::yes, kNone, kUser4}, red.events, {});
  CHECK(mark(world.obs(), kUser4) == Mark::privileged);
  red = exploit(world, kUser4, Exploit::haraka_rce);
  world.observe({}, red.events, {});
  CHECK(mark(world.obs(), kUser4) == Mark::user);
  blue(world, BlueKind::remove, kUser4);
  CHECK(mark(world.obs(), kUser4) == Mark::unknown);
  blue(world, BlueKind::restore, kUser4);
  CHECK(mark(world.obs(), kUser4) == Mark::no);
}

TEST_CASE("a host keeps 64 sessions and no more") {
  World world({});
  scan(world, kUser4);
  for (int i = 0; i < 100; ++i) { exploit(world, kUser4, Exploit::http_rfi, i % 2 == 0); }
  CHECK(world.at(kUser4).num_sessions == 64);
  CHECK(escalate(world, kUser4, 63).flag == Flag::yes);
  CHECK(world.at(kUser4).privileged == std::uint64_t{1} << 63);
  blue(world, BlueKind::remove, kUser4);
  CHECK(world.at(kUser4).num_sessions == 32);
  CHECK(world.at(kUser4).privileged == std::uint64_t{1} << 31);
}

}  // namespace
}  // namespace penstock::cage2::world_test
