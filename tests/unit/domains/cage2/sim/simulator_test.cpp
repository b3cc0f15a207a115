#include "penstock/domains/cage2/sim/simulator.h"

#include <doctest/doctest.h>

#include <bit>
#include <map>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "support.h"
#include "support/allocations.h"

namespace penstock::cage2::simulator_test {
namespace {

using test::bytes_of;
using test::make;
using test::random_action;
using test::reset;

const std::vector<std::string> kReds = {"bline", "meander", "sleep", "mix"};

TEST_CASE("the interface has the challenge's figures") {
  const EnvSpec spec = Simulator({}).spec();
  CHECK(spec.obs.size() == 52);
  CHECK(spec.action.num_actions() == 145);
  CHECK(spec.max_episode_steps == 100);
}

TEST_CASE("the state of an env is smaller than 1 KB, in memory and saved") {
  static_assert(sizeof(Simulator) < 1024);
  Simulator simulator = make("meander");
  reset(simulator, 1);
  CHECK(bytes_of(simulator).size() < 1024);
}

TEST_CASE("neither reset nor step allocates") {
  for (const std::string& red : kReds) {
    Simulator::Config config;
    config.green = true;
    Simulator simulator = make(red, config);
    Random random(3);
    std::array<float, kObsSize> row{};
    test::reset(simulator, 1);
    penstock::test::largest_allocation();
    for (std::uint64_t episode = 0; episode < 20; ++episode) {
      simulator.reset(episode, {row, {}});
      for (int t = 0; t < 100; ++t) { simulator.step(random_action(random), {row, {}}); }
    }
    CHECK(penstock::test::largest_allocation() == 0);
  }
}

TEST_CASE("the first observation is zero") {
  for (const std::string& red : kReds) {
    Simulator simulator = make(red);
    std::array<float, kObsSize> row{};
    row.fill(7);
    simulator.reset(5, {row, {}});
    for (const float value : row) { CHECK(value == 0); }
  }
}

TEST_CASE("the row holds the bits of the observation") {
  Simulator simulator = make("meander");
  Random random(9);
  std::array<float, kObsSize> row{};
  simulator.reset(2, {row, {}});
  for (int t = 0; t < 100; ++t) {
    simulator.step(random_action(random), {row, {}});
    for (std::size_t i = 0; i < kObsSize; ++i) {
      REQUIRE(row[i] == static_cast<float>(simulator.obs() >> i & 1));
    }
  }
}

TEST_CASE("30 steps are the beginning of 100") {
  for (const std::string& red : kReds) {
    Simulator::Config brief;
    brief.max_steps = 30;
    Simulator of_30 = make(red, brief);
    Simulator of_100 = make(red);
    Random random(4);
    reset(of_30, 8);
    reset(of_100, 8);
    for (int t = 0; t < 30; ++t) {
      const std::int64_t action = random_action(random);
      CHECK(of_30.advance(action).cost_tenths == of_100.advance(action).cost_tenths);
      CHECK(bytes_of(of_30) == bytes_of(of_100));
    }
  }
}

TEST_CASE("against a sleeping red the return is minus the number of Restores") {
  Simulator simulator = make("sleep");
  Random random(6);
  reset(simulator, 1);
  std::array<float, kObsSize> row{};
  float total = 0;
  int restores = 0;
  for (int t = 0; t < 1000; ++t) {
    const std::int64_t action = random_action(random);
    restores += blue_move(action).kind == BlueKind::restore ? 1 : 0;
    total += simulator.step(action, {row, {}}).reward;
  }
  CHECK(restores > 0);
  CHECK(total == static_cast<float>(-restores));
}

TEST_CASE("the same seed gives the same episode, another seed another") {
  for (const char* red : {"bline", "meander", "mix"}) {
    Simulator first = make(red);
    Simulator again = make(red);
    Simulator other = make(red);
    reset(first, 1);
    reset(again, 1);
    reset(other, 2);
    bool differs = false;
    for (int t = 0; t < 100; ++t) {
      first.advance(1);
      again.advance(1);
      other.advance(1);
      REQUIRE(bytes_of(first) == bytes_of(again));
      differs = differs || first.obs() != other.obs();
    }
    CHECK(differs);
  }
}

TEST_CASE("a forced step is the step that drew the same move") {
  for (const char* red : {"bline", "meander", "sleep"}) {
    Simulator drawn = make(red);
    Simulator forced = make(red);
    Random random(11);
    for (std::uint64_t episode = 0; episode < 50; ++episode) {
      reset(drawn, episode);
      reset(forced, 999);  // its own randomness is never asked
      for (int t = 0; t < 100; ++t) {
        const std::int64_t action = random_action(random);
        const Simulator::Trace a = drawn.advance(action);
        const Simulator::Trace b = forced.advance_forced(action, a.red);
        REQUIRE(b.allowed);
        REQUIRE(a.cost_tenths == b.cost_tenths);
        REQUIRE(a.blue_flag == b.blue_flag);
        REQUIRE(a.red_flag == b.red_flag);
        REQUIRE(drawn.obs() == forced.obs());
      }
    }
  }
}

TEST_CASE("a forced move that red's rules do not offer is done and told") {
  Simulator simulator = make("bline");
  reset(simulator, 1);
  const RedMove early{.action = RedAction::discover_services, .target = host::kUser1};
  const Simulator::Trace trace = simulator.advance_forced(0, early);
  CHECK_FALSE(trace.allowed);
  CHECK(trace.red_flag == Flag::yes);
  CHECK(activity(simulator.obs(), host::kUser1) == Activity::scan);
}

TEST_CASE("a mixture draws its reds by weight, one per episode") {
  Simulator::Config config;
  config.mix = {1, 3, 0};
  Simulator simulator = make("mix", config);
  std::map<RedKind, int> count;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    reset(simulator, seed);
    ++count[simulator.red().kind()];
  }
  CHECK(count[RedKind::sleep] == 0);
  CHECK(count[RedKind::bline] == doctest::Approx(1000).epsilon(0.1));
}

TEST_CASE("a mixture must be three weights") {
  for (const std::vector<std::int64_t>& mix :
       {std::vector<std::int64_t>{}, {1, 1}, {0, 0, 0}, {1, -1, 1}, {1, 1, 1, 1}}) {
    Simulator::Config config;
    config.mix = mix;
    CHECK_THROWS_AS(make("mix", config), ConfigError);
    CHECK_NOTHROW(make("bline", config));
  }
}

/// How often each exploit is tried on Enterprise1 right after it was scanned.
std::map<Exploit, int> exploits_of_enterprise1(int num_episodes) {
  std::map<Exploit, int> count;
  Simulator simulator = make("bline");
  for (int episode = 0; episode < num_episodes; ++episode) {
    reset(simulator, static_cast<std::uint64_t>(episode));
    for (int t = 0; t < 12; ++t) {
      const RedMove move = simulator.advance(0).red;
      if (move.action == RedAction::exploit && move.target == host::kEnterprise1) {
        ++count[static_cast<Exploit>(move.exploit)];
        break;
      }
    }
  }
  return count;
}

TEST_CASE("the best exploit is taken three times in four, the others evenly") {
  // Offered: HTTPSRFI (best), HTTPRFI, EternalBlue, BlueKeep, SSHBruteForce.
  std::map<Exploit, int> count = exploits_of_enterprise1(20'000);
  int total = 0;
  for (const auto& [exploit, times] : count) { total += times; }
  REQUIRE(total > 8000);
  const auto share = [&](Exploit e) { return count[e] / static_cast<double>(total); };
  CHECK(share(Exploit::https_rfi) == doctest::Approx(0.75).epsilon(0.02));
  for (const Exploit e :
       {Exploit::http_rfi, Exploit::eternal_blue, Exploit::blue_keep, Exploit::ssh_brute_force}) {
    CHECK(share(e) == doctest::Approx(0.0625).epsilon(0.12));
  }
}

TEST_CASE("about 95 % of exploits are detected") {
  Simulator simulator = make("meander");
  int exploits = 0;
  int detected = 0;
  for (std::uint64_t episode = 0; episode < 500; ++episode) {
    reset(simulator, episode);
    for (int t = 0; t < 100; ++t) {
      const RedMove move = simulator.advance(0).red;
      if (move.action != RedAction::exploit || move.exploit == kNone) { continue; }
      ++exploits;
      detected += move.detected ? 1 : 0;
    }
  }
  CHECK(detected / static_cast<double>(exploits) == doctest::Approx(0.95).epsilon(0.01));
}

TEST_CASE("Green scans one of eight hosts in every other step") {
  Simulator::Config config;
  config.green = true;
  Simulator simulator = make("sleep", config);
  std::map<int, int> count;
  reset(simulator, 1);
  for (int t = 0; t < 16'000; ++t) {
    const std::uint8_t green = simulator.advance(0).green;
    ++count[green];
    for (std::uint8_t h = 0; h < kNumHosts; ++h) {
      const Activity expected = h == green ? Activity::scan : Activity::none;
      REQUIRE(activity(simulator.obs(), h) == expected);
    }
  }
  CHECK(count.size() == 9);
  CHECK(count[kNone] == doctest::Approx(8000).epsilon(0.05));
  for (const std::uint8_t h : {1, 2, 3, 8, 9, 10, 11, 12}) {
    CHECK(count[h] == doctest::Approx(1000).epsilon(0.15));
  }
}

TEST_CASE("damaged bytes are refused and never lead outside of the arrays") {
  Simulator simulator = make("meander");
  Random random(17);
  reset(simulator, 3);
  for (int t = 0; t < 40; ++t) { simulator.advance(random_action(random)); }
  const std::vector<std::byte> good = bytes_of(simulator);
  int refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::vector<std::byte> bad = good;
    bad[i] = static_cast<std::byte>(random.next());
    StateReader reader(bad);
    try {
      reader(simulator);
      for (int t = 0; t < 30; ++t) { simulator.advance(random_action(random)); }
    } catch (const DataError&) { ++refused; }
  }
  CHECK(refused > 50);
}

}  // namespace
}  // namespace penstock::cage2::simulator_test
