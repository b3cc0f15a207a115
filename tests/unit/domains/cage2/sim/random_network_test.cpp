#include "penstock/domains/cage2/sim/random_network.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <memory>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/scenario_env.h"

namespace penstock::cage2::random_network_test {
namespace {

using WideWorld = BasicWorld<WideSize>;

/// Everything that a red with no plan but patience can do, until nothing new comes of it.
void flood(WideWorld& world) {
  for (int round = 0; round < 20; ++round) {
    for (std::uint8_t s = 0; s < 3; ++s) {
      if ((world.knowledge().subnets >> s & 1U) != 0) {
        world.red({.action = RedAction::discover_systems, .target = s});
      }
    }
    for (std::uint8_t h = 0; h < world.num_hosts(); ++h) {
      if (!has(world.knowledge().addresses, h)) { continue; }
      world.red({.action = RedAction::discover_services, .target = h});
      for (std::uint8_t e = 0; e < kNumExploits; ++e) {
        if ((world.exploit_options(h) >> e & 1U) == 0 || world.at(h).num_sessions > 8) { continue; }
        world.red({.action = RedAction::exploit, .target = h, .exploit = e, .detected = true});
      }
      world.red({.action = RedAction::escalate, .target = h});
    }
    world.red({.action = RedAction::impact, .target = world.network().goal});
  }
}

Network drawn(std::uint64_t seed, NetworkSize size = {}) {
  Network network;
  draw_network(seed, size, {}, network);
  return network;
}

std::vector<float> play(ScenarioEnv& env, std::uint64_t seed, int steps) {
  const EnvSpec spec = env.spec();
  std::vector<float> row(spec.obs.size());
  const auto legal = std::make_unique<bool[]>(spec.action.num_actions());
  const std::span<bool> mask(legal.get(), spec.action.num_actions());
  std::vector<float> seen;
  env.reset(seed, {row, mask});
  Random random({.seed = seed, .stream = Stream::action});
  for (int t = 0; t < steps; ++t) {
    std::fill(mask.begin(), mask.end(), true);
    const std::int64_t action = random.below(mask.size());
    seen.push_back(env.step(action, {row, mask}).reward);
    seen.insert(seen.end(), row.begin(), row.end());
    for (std::size_t i = 2; i < mask.size(); ++i) {
      const BlueMove move = blue_move(static_cast<std::int64_t>(i), env.network().width);
      REQUIRE(mask[i] == (move.host < env.network().num_hosts));
    }
  }
  return seen;
}

}  // namespace

TEST_CASE("red can get to every host of a random network but a Defender's, and to the service") {
  std::set<int> sizes;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Network network = drawn(seed);
    sizes.insert(network.num_hosts);
    REQUIRE(network.num_hosts >= 5);
    REQUIRE(network.num_hosts <= 50);
    CHECK(network.width == 50);
    WideWorld world({}, network);
    flood(world);
    CHECK(world.knowledge().addresses == network.all());
    const Network::Set closed = network.all() & ~world.with_privileged();
    CHECK(std::popcount(closed) <= 1);
    if (closed != 0) { CHECK(!network.services[std::countr_zero(closed)].guessable); }
    CHECK(!world.service_up());
    // Nothing of hosts there are not.
    const Network::Set all = network.footholds | network.gates[2] | network.subnet_hosts[0] |
                             network.subnet_hosts[1] | network.subnet_hosts[2];
    CHECK(all == network.all());
  }
  CHECK(sizes.size() == 46);  // every size from 5 to 50 occurs
}

TEST_CASE("both attackers reach the service of a random network that nobody defends") {
  for (const char* red : {"bline", "meander"}) {
    int down = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      GameConfig config;
      config.red = red;
      const Network network = drawn(seed, {.least = 5, .most = 20});
      WideSimulator game(config, network);
      std::vector<float> row(4 * network.width);
      game.reset(seed, {row, {}});
      for (int t = 0; t < 400; ++t) { game.advance(0); }
      down += game.world().service_up() ? 0 : 1;
    }
    CHECK(down >= 95);
  }
}

TEST_CASE("a random network is a function of its seed, and its episode of seed and actions") {
  CHECK(std::memcmp(drawn(3).services.data(), drawn(3).services.data(),
                    sizeof(Network::services)) == 0);
  CHECK(drawn(3).leads_to != drawn(4).leads_to);
  ScenarioEnv::Config config;
  config.scenario = "random";
  config.red = "mix";
  ScenarioEnv a(config);
  ScenarioEnv b(config);
  play(b, 99, 30);
  for (std::uint64_t seed = 0; seed < 20; ++seed) { CHECK(play(a, seed, 60) == play(b, seed, 60)); }
}

TEST_CASE("a random network's game goes on from its saved state") {
  ScenarioEnv::Config config;
  config.scenario = "random";
  config.red = "meander";
  ScenarioEnv a(config);
  play(a, 5, 40);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(a);
  ScenarioEnv b(config);
  StateReader reader(bytes);
  reader(b);
  CHECK(a.network().num_hosts == b.network().num_hosts);
  std::vector<float> left(a.spec().obs.size());
  std::vector<float> right(left.size());
  const auto legal = std::make_unique<bool[]>(a.spec().action.num_actions());
  const std::span<bool> mask(legal.get(), a.spec().action.num_actions());
  for (int t = 0; t < 40; ++t) {
    CHECK(a.step(t, {left, mask}).reward == b.step(t, {right, mask}).reward);
    CHECK(left == right);
  }
}

TEST_CASE("sizes that cannot be are refused with those that can") {
  ScenarioEnv::Config config;
  config.scenario = "random";
  for (const std::vector<std::int64_t>& hosts :
       {std::vector<std::int64_t>{4, 10}, {10}, {20, 10}, {5, 65}}) {
    config.hosts = hosts;
    CHECK_THROWS_WITH_AS(ScenarioEnv{config}, doctest::Contains("5 to 64, as [5, 50]"),
                         ConfigError);
  }
}

}  // namespace penstock::cage2::random_network_test
