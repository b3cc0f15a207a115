#include <doctest/doctest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

#include "penstock/core/base/archive.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/red.h"
#include "penstock/domains/cage2/sim/scripts.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2::agents_test {
namespace {

const Network& kNetwork = scenario2_network({});

using namespace host;

/// The stages that CybORG's B_lineAgent goes back to, in its own words `jumps`.
constexpr std::array<int, 15> kJumps = {0, 1, 2, 2, 2, 2, 5, 5, 5, 5, 9, 9, 9, 12, 13};

std::string words_of(const Intent& intent) {
  for (std::uint8_t target = 0; target < kNumHosts; ++target) {
    if (intent.targets == bit(target)) {
      return move_name({.action = intent.action, .target = target});
    }
  }
  return move_name({.action = intent.action, .target = kUser0}) + " or another";
}

/// A bline that has succeeded with everything up to a stage, from this foothold.
Bline bline_at(int stage, std::uint8_t foothold = kUser1) {
  Bline red;
  red.intend(Flag::unknown, true, kNetwork);
  for (int i = 1; i <= stage; ++i) {
    red.intend(Flag::yes, true, kNetwork);
    red.commit(foothold);
  }
  return red;
}

ObsBits row_showing(std::uint8_t host, Activity activity, Mark mark) {
  return static_cast<ObsBits>(activity) << 4 * host | static_cast<ObsBits>(mark) << (4 * host + 2);
}

/// How often a script answers an observation with each action, over many seeds.
std::map<std::string, int> answers_to(Script script, ObsBits obs, int seeds = 1000) {
  std::map<std::string, int> counts;
  ScriptedBlue blue(script);
  for (int seed = 0; seed < seeds; ++seed) {
    blue.reset(static_cast<std::uint64_t>(seed));
    ++counts[action_name(blue.act(obs))];
  }
  return counts;
}

Knowledge knowing(HostSet addresses, HostSet names, std::uint8_t subnets) {
  Knowledge known;
  known.addresses = addresses;
  known.names = names;
  known.subnets = subnets;
  return known;
}

}  // namespace

TEST_CASE("bline goes from the user subnet by one enterprise server to the OT service") {
  for (const std::uint8_t foothold : {kUser1, kUser4}) {
    const std::string user(host_name(foothold));
    const std::string server = foothold == kUser1 ? "Enterprise1" : "Enterprise0";
    const std::vector<std::string> expected = {"DiscoverNetworkServices " + user,
                                               "Exploit " + user,
                                               "PrivilegeEscalate " + user,
                                               "DiscoverNetworkServices " + server,
                                               "Exploit " + server,
                                               "PrivilegeEscalate " + server,
                                               "",
                                               "DiscoverNetworkServices Enterprise2",
                                               "Exploit Enterprise2",
                                               "PrivilegeEscalate Enterprise2",
                                               "DiscoverNetworkServices Op_Server0",
                                               "Exploit Op_Server0",
                                               "PrivilegeEscalate Op_Server0",
                                               "Impact Op_Server0",
                                               "Impact Op_Server0"};
    Bline red;
    const Intent first = red.intend(Flag::unknown, true, kNetwork);
    CHECK(first.action == RedAction::discover_systems);
    CHECK(first.targets == 1);  // the user subnet
    const Intent drawn = red.intend(Flag::yes, true, kNetwork);
    CHECK(drawn.targets == (bit(kUser1) | bit(kUser2) | bit(kUser3) | bit(kUser4)));
    red.commit(foothold);
    for (std::size_t i = 1; i < expected.size(); ++i) {
      const Intent next = red.intend(Flag::yes, true, kNetwork);
      CAPTURE(i);
      if (expected[i].empty()) {
        CHECK(next.action == RedAction::discover_systems);
        CHECK(next.targets == 2);  // the enterprise subnet
      } else {
        CHECK(words_of(next) == expected[i]);
      }
    }
  }
}

TEST_CASE("where a stage fails, bline goes back as CybORG's does") {
  for (int stage = 0; stage < 15; ++stage) {
    CAPTURE(stage);
    Bline red = bline_at(stage);
    REQUIRE(red.stage() == stage);
    red.intend(Flag::no, true, kNetwork);
    CHECK(int{red.stage()} == kJumps[static_cast<std::size_t>(stage)]);
  }
}

TEST_CASE("a scan that showed nothing of the server sends bline back to its foothold, once") {
  Bline red = bline_at(11, kUser3);
  Intent next = red.intend(Flag::yes, false, kNetwork);
  CHECK(red.stage() == 1);
  CHECK(words_of(next) == "DiscoverNetworkServices User3");  // it draws no other
  red = bline_at(12, kUser3);
  red.intend(Flag::no, false, kNetwork);  // the exploit failed: to stage 9, and up again
  for (int i = 0; i < 3; ++i) { next = red.intend(Flag::yes, false, kNetwork); }
  CHECK(red.stage() == 12);  // it has been there, and does not look again
}

TEST_CASE("meander scans before it escalates, and escalates before it exploits") {
  Meander red;
  Knowledge known = knowing(bit(kUser0), bit(kUser0), 1);
  Intent next = red.intend(Flag::unknown, known, kNetwork);
  CHECK(next.action == RedAction::discover_systems);
  CHECK(next.targets == 1);
  red.commit(next.action, 0);

  known.addresses = kSubnetHosts[0];
  next = red.intend(Flag::yes, known, kNetwork);
  CHECK(next.action == RedAction::discover_services);
  CHECK(next.targets == kSubnetHosts[0]);  // any that it has not scanned
  for (std::uint8_t host = kUser0; host <= kUser4; ++host) {
    red.commit(RedAction::discover_services, host);
    next = red.intend(Flag::yes, known, kNetwork);
  }
  CHECK(words_of(next) == "PrivilegeEscalate User0");  // the one whose name it knows
  red.commit(next.action, kUser0);
  next = red.intend(Flag::yes, known, kNetwork);
  CHECK(next.action == RedAction::exploit);
  CHECK(next.targets == kSubnetHosts[0]);
  red.commit(next.action, kUser2);
  known.names |= bit(kUser2);
  CHECK(words_of(red.intend(Flag::yes, known, kNetwork)) == "PrivilegeEscalate User2");
}

TEST_CASE("meander looks at a new subnet at once, the enterprise's first") {
  Meander red;
  const Knowledge known = knowing(kAllHosts, bit(kUser0), 7);
  for (const HostSet subnet : {2, 4, 1}) {
    const Intent next = red.intend(Flag::unknown, known, kNetwork);
    CHECK(next.action == RedAction::discover_systems);
    CHECK(next.targets == subnet);
    red.commit(next.action, subnet == 2 ? 1 : subnet == 4 ? 2 : 0);
  }
  CHECK(red.intend(Flag::unknown, known, kNetwork).action == RedAction::discover_services);
}

TEST_CASE("a failed exploit makes meander forget the way it came by") {
  Meander red;
  const HostSet all = bit(kUser0) | bit(kEnterprise0);
  const Knowledge known = knowing(all, all, 0);
  for (const std::uint8_t host : {kUser0, kEnterprise0}) {
    red.commit(RedAction::discover_services, host);
  }
  red.commit(RedAction::exploit, kEnterprise0);
  CHECK(red.intend(Flag::yes, known, kNetwork).action == RedAction::escalate);
  red.commit(RedAction::escalate, kEnterprise0);
  red.intend(Flag::yes, known, kNetwork);
  red.commit(RedAction::escalate, kUser0);
  CHECK(words_of(red.intend(Flag::yes, known, kNetwork)) == "Exploit User0");
  red.commit(RedAction::exploit, kUser0);
  // It failed, and Enterprise0 was the way: that is exploited and escalated again.
  const Intent next = red.intend(Flag::no, known, kNetwork);
  CHECK(next.action == RedAction::exploit);
  CHECK(next.targets == all);
}

TEST_CASE("meander repeats the impact, until it fails") {
  Meander red;
  const Knowledge known = knowing(bit(kOpServer0), bit(kOpServer0), 0);
  red.commit(RedAction::discover_services, kOpServer0);
  red.commit(RedAction::exploit, kOpServer0);
  red.intend(Flag::yes, known, kNetwork);
  red.commit(RedAction::escalate, kOpServer0);
  for (int i = 0; i < 3; ++i) {
    const Intent next = red.intend(Flag::yes, known, kNetwork);
    CHECK(words_of(next) == "Impact Op_Server0");
    red.commit(next.action, kOpServer0);
  }
  CHECK(words_of(red.intend(Flag::no, known, kNetwork)) == "Exploit Op_Server0");
}

TEST_CASE("a red that sleeps means nothing, and only possible reds are loaded") {
  Red red(RedKind::sleep);
  CHECK(red.intend({}, kNetwork).action == RedAction::sleep);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(red);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> bad = bytes;
    bad[i] = std::byte{200};
    Red loaded;
    StateReader reader(bad);
    // Sets of hosts aside, no byte of an agent may be 200.
    try {
      reader(loaded);
      loaded.require_possible(kNetwork);
      CHECK(loaded.intend({}, kNetwork).action == RedAction::sleep);
    } catch (const DataError&) { continue; }
  }
  bytes[0] = std::byte{9};  // no such kind
  StateReader reader(bytes);
  reader(red);
  CHECK_THROWS_AS(red.require_possible(kNetwork), DataError);
}

TEST_CASE("a bline past its first stage that has no foothold is not loaded") {
  Red red(RedKind::bline);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(red);
  constexpr std::size_t kStage = 3;  // after the kind, the last flag and what was seen
  for (const int stage : {0, 1, 2, 4}) {
    bytes[kStage] = static_cast<std::byte>(stage);
    StateReader reader(bytes);
    reader(red);
    if (stage == 0) {
      CHECK_NOTHROW(red.require_possible(kNetwork));
    } else {
      CHECK_THROWS_AS(red.require_possible(kNetwork), DataError);
    }
  }
}

TEST_CASE("react restores what is privileged, and removes or restores what is not") {
  const auto privileged =
      answers_to(Script::react, row_showing(kUser2, Activity::none, Mark::privileged));
  CHECK(privileged == std::map<std::string, int>{{"Restore User2", 1000}});
  const auto user = answers_to(Script::react, row_showing(kUser2, Activity::none, Mark::user));
  CHECK(user == std::map<std::string, int>{{"Remove User2", 1000}});
  // On a server either, as a coin falls.
  auto server = answers_to(Script::react, row_showing(kEnterprise1, Activity::none, Mark::user));
  CHECK(server.size() == 2);
  CHECK(server["Restore Enterprise1"] > 430);
  CHECK(server["Remove Enterprise1"] > 430);
}

TEST_CASE("react looks at what matters most first, and never at User0") {
  const ObsBits both = row_showing(kUser4, Activity::none, Mark::privileged) |
                       row_showing(kOpServer0, Activity::none, Mark::privileged);
  CHECK(answers_to(Script::react, both, 50) ==
        std::map<std::string, int>{{"Restore Op_Server0", 50}});
  // A mark comes before a scan, whatever the host.
  const ObsBits mixed = row_showing(kUser1, Activity::none, Mark::user) |
                        row_showing(kOpServer0, Activity::scan, Mark::no);
  CHECK(answers_to(Script::react, mixed, 50) == std::map<std::string, int>{{"Remove User1", 50}});
  for (const auto& [action, count] :
       answers_to(Script::react, row_showing(kUser0, Activity::none, Mark::privileged))) {
    CHECK(action != "Restore User0");
  }
}

TEST_CASE("react analyses half of what is scanned, and what it does not know") {
  auto scanned = answers_to(Script::react, row_showing(kUser3, Activity::scan, Mark::no));
  CHECK(scanned["Analyse User3"] > 430);
  CHECK(scanned["Analyse User3"] < 570);
  auto unknown = answers_to(Script::react, row_showing(kUser3, Activity::none, Mark::unknown));
  CHECK(unknown.size() == 2);
  CHECK(unknown["Restore User3"] > 240);  // three of ten
  CHECK(unknown["Restore User3"] < 360);
}

TEST_CASE("the decoys of the scripts can be placed where they place them") {
  World world({});
  ScriptedBlue blue(Script::decoy_first);
  blue.reset(1);
  std::set<std::int64_t> actions;
  for (int i = 0; i < 18; ++i) {
    const std::int64_t action = blue.act(0);
    REQUIRE(blue_move(action).is_decoy());
    // Vsftpd has the port of Apache on Enterprise0 by then; the recordings have it so.
    const bool in_the_way = action_name(action) == "DecoyApache Enterprise0";
    CHECK(world.blue(blue_move(action)).flag == (in_the_way ? Flag::no : Flag::yes));
    actions.insert(action);
  }
  CHECK(actions.size() == 18);
  // When it is quiet, react places its own decoys and analyses host by host in between.
  World quiet({});
  ScriptedBlue react(Script::react);
  react.reset(2);
  int decoys = 0;
  std::uint8_t next = 1;
  for (int i = 0; i < 200; ++i) {
    const BlueMove move = blue_move(react.act(0));
    if (move.is_decoy()) {
      ++decoys;
      CHECK(quiet.blue(move).flag == Flag::yes);
    } else {
      CHECK(move.kind == BlueKind::analyse);
      CHECK(move.host == next);
      next = static_cast<std::uint8_t>((next + 1) % kNumHosts);
    }
  }
  CHECK(decoys == 21);
}

TEST_CASE("a random Blue takes all 145 actions, a sleeping one none") {
  const auto random = answers_to(Script::random, 0, 14'500);
  CHECK(random.size() == 145);
  for (const auto& [action, count] : random) {
    CHECK(count > 50);  // of 100
    CHECK(count < 150);
  }
  CHECK(answers_to(Script::sleep, ~ObsBits{0}, 5) == std::map<std::string, int>{{"Sleep", 5}});
  CHECK_THROWS_WITH_AS(script_of("reakt"), doctest::Contains("did you mean 'react'?"), UsageError);
}

}  // namespace penstock::cage2::agents_test
