#include "penstock/domains/cage2/sim/scenario.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "unit/domains/cage2/sim/support.h"

namespace penstock::cage2::scenario_test {
namespace {

/// Scenario 2 as the file has it, with a line changed.
std::string file_with(const std::string& line = "", const std::string& instead = "") {
  std::ifstream file(std::string(PENSTOCK_TEST_DATA) +
                     "/../../src/domains/cage2/sim/scenarios/scenario2.toml");
  std::stringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  const std::size_t at = all.find(line);
  REQUIRE(at != std::string::npos);
  return all.replace(at, line.size(), instead);
}

std::string fault_of(const std::string& text) {
  try {
    parse_scenario(text, "own.toml");
  } catch (const ConfigError& error) { return error.what(); }
  return "";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether a word of four bits per host says the same in both sizes.
bool same_view(ObsBits obs, const WideObs& wide) {
  return wide.words[0] == obs && wide.words[1] == 0 && wide.words[2] == 0 && wide.words[3] == 0;
}

template <class A, class B>
bool same_world(const A& a, const B& b) {
  bool same = a.with_sessions() == b.with_sessions() && a.with_malware() == b.with_malware() &&
              a.with_privileged() == b.with_privileged() && a.service_up() == b.service_up() &&
              a.knowledge().addresses == b.knowledge().addresses &&
              a.knowledge().names == b.knowledge().names &&
              a.knowledge().subnets == b.knowledge().subnets;
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    same = same && a.at(h).num_sessions == b.at(h).num_sessions &&
           a.at(h).known_ports == b.at(h).known_ports && a.at(h).decoys == b.at(h).decoys;
  }
  return same;
}

/// Plays both with the same actions; the number of steps that differ.
int differences(const GameConfig& config, const Network& network, std::uint64_t seed) {
  Simulator narrow(config);
  WideSimulator wide(config, network);
  std::array<float, kObsSize> row{};
  std::array<float, kObsSize> wide_row{};
  narrow.reset(seed, {row, {}});
  wide.reset(seed, {wide_row, {}});
  Random random({.seed = seed, .stream = Stream::action});
  int found = 0;
  for (int t = 0; t < 100; ++t) {
    const std::int64_t action = test::random_action(random);
    const float reward = narrow.step(action, {row, {}}).reward;
    const float wide_reward = wide.step(action, {wide_row, {}}).reward;
    const bool same = reward == wide_reward && row == wide_row &&
                      same_view(narrow.obs(), wide.obs()) &&
                      same_world(narrow.world(), wide.world());
    found += same ? 0 : 1;
  }
  return found;
}

}  // namespace

TEST_CASE("the numbers of Scenario 2 that code knows are those of its file") {
  const Network& network = scenario2_network({});
  CHECK(network.num_hosts == kNumHosts);
  CHECK(network.start == host::kUser0);
  CHECK(network.goal == host::kOpServer0);
  CHECK(network.gates == std::array<Network::Set, 3>{0, 0, kEnterpriseServers});
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    CHECK(scenario2().names[h] == host_name(h));
    CHECK(network.subnets[h] == subnet_of(h));
    CHECK(has(network.subnet_hosts[static_cast<std::size_t>(subnet_of(h))], h));
    const int cost = h == host::kUser0 ? 0 : has(kServers, h) ? 10 : 1;
    CHECK(network.cost_tenths[h / 8][1U << h % 8] == cost);
  }
  CHECK(network.service_tenths == 100);
  CHECK(network.restore_tenths == 10);
}

TEST_CASE("the file of Scenario 2, read as any file is, plays the same game in the wide size") {
  const Scenario scenario = parse_scenario(file_with(), "scenario2.toml");
  for (const char* red : {"bline", "meander", "mix"}) {
    for (const bool fixed : {false, true}) {
      GameConfig config;
      config.red = red;
      config.rules = fixed ? "head" : "leaderboard";
      config.green = fixed;
      config.wrapper = fixed ? "dbg" : "v2";
      config.fix_vsftpd = config.fix_smb = config.fix_mysql = fixed;
      config.reward_user_sessions = fixed;
      const Network network = network_of(scenario, rules_of(config));
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CHECK(differences(config, network, seed) == 0);
      }
    }
  }
}

TEST_CASE("costs and services are those of the file") {
  const Scenario scenario = parse_scenario(
      file_with("[hosts.Op_Host0]\nsubnet = \"operational\"\nsystem = \"linux\"\ncost = 0.1",
                "[hosts.Op_Host0]\nsubnet = \"operational\"\nsystem = \"linux\"\ncost = 2.5"),
      "own.toml");
  const Network network = network_of(scenario, {});
  CHECK(network.cost_tenths[0][bit(host::kOpHost0)] == 25);
  CHECK(network.cost_tenths[0][bit(host::kOpHost0) | bit(host::kEnterprise0)] == 35);
}

TEST_CASE("a scenario's fault names the key and what to do") {
  const std::string wrong_goal =
      fault_of(file_with("goal = \"Op_Server0\"", "goal = \"Op_Server\""));
  CHECK(mentions(wrong_goal, "red.goal"));
  CHECK(mentions(wrong_goal, "did you mean 'Op_Server0'"));
  CHECK(mentions(fault_of(file_with("listens = [22, 53, 53, 68]", "listens = [22, 54]")),
                 "hosts.Defender.listens: port 54: expected one of 21"));
  CHECK(mentions(fault_of(file_with("subnet = \"user\"", "")), "hosts.User0.subnet: missing"));
  CHECK(mentions(fault_of(file_with("system = \"windows\"", "sistem = \"windows\"")), "system"));
  CHECK(mentions(fault_of(file_with("cost = 0.1", "cost = 0.12")), "multiple of 0.1"));
  CHECK(mentions(fault_of(file_with("opens = 80", "opens = 81")), "decoys.Apache.opens"));
  CHECK(mentions(fault_of(file_with("leads_to = \"Enterprise1\"", "")),
                 "hosts.User1.leads_to: missing"));
  CHECK(mentions(fault_of(file_with("\"SSHBruteForce\"", "\"SshBruteForce\"")), "SSHBruteForce"));
  CHECK(mentions(
      fault_of(file_with("footholds = \"User1, User2, User3, User4\"", "footholds = \"\"")),
      "red.footholds"));
  CHECK(mentions(fault_of("[red]\nstart = \"A\"\n"), "0 hosts; give 2 to 64"));
}

TEST_CASE("hosts are limited to what a world has room for") {
  std::string text = "[red]\nstart = \"H0\"\ngoal = \"H1\"\nfootholds = \"H1\"\nrelay = \"H1\"\n";
  for (int h = 0; h < 64; ++h) {
    text += "[hosts.H" + std::to_string(h) + "]\nsubnet = \"user\"\nleads_to = \"H1\"\n";
  }
  CHECK(fault_of(text) == "");
  CHECK(mentions(fault_of(text + "[hosts.H64]\nsubnet = \"user\"\n"), "65 hosts; give 2 to 64"));
}

}  // namespace penstock::cage2::scenario_test
