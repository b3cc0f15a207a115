#include "penstock/domains/cage2/sim/red_env.h"

#include <doctest/doctest.h>

#include <array>
#include <bit>

#include <map>
#include <memory>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/sim/defender.h"

namespace penstock::cage2::red_env_test {
namespace {

using Legal = std::array<bool, kNumRedActions>;

/// Plays by a function of what red sees; the sum of the rewards.
template <class Choose>
double play_red(RedEnv& env, std::uint64_t seed, Choose choose, int steps = 100) {
  std::array<float, RedMemory::kSize> row{};
  Legal legal{};
  legal.fill(true);
  env.reset(seed, {row, legal});
  double total = 0;
  for (int t = 0; t < steps; ++t) {
    const std::int64_t action = choose(legal);
    legal.fill(true);
    total += env.step(action, {row, legal}).reward;
    for (const float number : row) { REQUIRE((number >= 0 && number <= 1)); }
    REQUIRE(legal[0]);
  }
  return total;
}

/// The number of an intent among red's actions.
std::int64_t number_of(RedAction action, HostSet targets) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kNumRedActions); ++i) {
    const Intent intent = red_intent(i);
    if (intent.action == action && (intent.targets & targets) != 0) { return i; }
  }
  return 0;
}

std::int64_t any_legal(const Legal& legal, Random& random) {
  std::int64_t action = 0;
  do { action = random.below(kNumRedActions); } while (!legal[action]);
  return action;
}

/// Sleeps and looks around, by turns.
class FirstMoves final : public Opponent {
 public:
  std::int64_t choose(std::span<const float> /*obs*/, std::span<const bool> legal,
                      std::uint64_t /*seed*/, std::uint64_t step) override {
    CHECK(legal.size() == kNumRedActions);
    return static_cast<std::int64_t>(step) % 4;
  }
};

EnvSpec defender_spec() { return DefenderEnv(DefenderEnv::Config{}).spec(); }

}  // namespace

TEST_CASE("red's 44 actions are all different moves, and others are sleep") {
  std::map<std::pair<RedAction, HostSet>, int> seen;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kNumRedActions); ++i) {
    const Intent intent = red_intent(i);
    ++seen[{intent.action, intent.targets}];
  }
  CHECK(seen.size() == kNumRedActions);
  CHECK(red_intent(-1).action == RedAction::sleep);
  CHECK(red_intent(kNumRedActions).action == RedAction::sleep);
}

TEST_CASE("a red that does as bline does earns what bline costs a Blue that sleeps") {
  // The published mean is 1134.98 +- 0.68 over 100 steps: CAGE Challenge 2, sleeping Blue.
  RedEnv::Config config;
  config.blue = "sleep";
  config.rules = "head";
  RedEnv env(config);
  double sum = 0;
  constexpr int kGames = 300;
  for (std::uint64_t seed = 0; seed < kGames; ++seed) {
    Bline bline;
    Random random(seed);
    Flag last = Flag::unknown;
    bool saw = true;
    std::array<float, RedMemory::kSize> row{};
    Legal legal{};
    legal.fill(true);
    env.reset(seed, {row, legal});
    for (int t = 0; t < 100; ++t) {
      const Intent intent = bline.intend(last, saw, scenario2_network({}));
      HostSet targets = intent.targets;
      for (std::uint32_t skip = random.below(std::popcount(targets)); skip > 0; --skip) {
        targets &= targets - 1;
      }
      const auto target = static_cast<std::uint8_t>(std::countr_zero(targets));
      bline.commit(target);
      const std::int64_t action = number_of(intent.action, bit(target));
      CHECK(legal[action]);  // the mask never forbids what a script does
      legal.fill(true);
      sum += env.step(action, {row, legal}).reward;
      // What red sees of its last action: the flag's three numbers, from the row.
      const std::size_t flags = kNumHosts * RedMemory::kFeaturesOfHost + 6 + 6;
      last = row[flags + 1] == 1.0F ? Flag::yes : row[flags + 2] == 1.0F ? Flag::no : Flag::unknown;
      saw = true;
    }
  }
  CHECK(sum / kGames == doctest::Approx(1134.98).epsilon(0.005));
}

TEST_CASE("an unmasked action of red can be done by the rules, a masked one never succeeds") {
  RedEnv::Config config;
  config.blue = "react, decoy_first, random";
  RedEnv env(config);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    play_red(env, seed, [&](const Legal& legal) {
      const World& world = env.simulator().world();
      for (std::int64_t i = 1; i < static_cast<std::int64_t>(kNumRedActions); ++i) {
        const Intent intent = red_intent(i);
        const auto target = static_cast<std::uint8_t>(std::countr_zero(intent.targets));
        if (legal[i] || intent.action == RedAction::discover_systems ||
            intent.action == RedAction::discover_services) {
          continue;
        }
        World tried = world;
        for (std::uint8_t e = 0; e < kNumExploits; ++e) {
          const bool offered = (world.exploit_options(target) >> e & 1U) != 0;
          if (intent.action == RedAction::exploit && !offered) { continue; }
          CHECK(tried.red({.action = intent.action, .target = target, .exploit = e}).flag !=
                Flag::yes);
        }
      }
      return any_legal(legal, random);
    });
  }
}

TEST_CASE("a red's game is a function of seed and actions, and goes on from its saved state") {
  RedEnv::Config config;
  config.blue = "react, random";
  RedEnv a(config);
  RedEnv b(config);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random left(seed);
    Random right(seed);
    const double first = play_red(a, seed, [&](const Legal& l) { return any_legal(l, left); });
    CHECK(first == play_red(b, seed, [&](const Legal& l) { return any_legal(l, right); }));
  }
  Random random(1);
  play_red(
      a, 3, [&](const Legal& l) { return any_legal(l, random); }, 50);
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(a);
  StateReader reader(bytes);
  reader(b);
  std::array<float, RedMemory::kSize> left{};
  std::array<float, RedMemory::kSize> right{};
  Legal legal{};
  for (std::int64_t t = 0; t < 50; ++t) {
    const std::int64_t action = t % static_cast<std::int64_t>(kNumRedActions);
    CHECK(a.step(action, {left, legal}).reward == b.step(action, {right, legal}).reward);
    CHECK(left == right);
  }
}

TEST_CASE("each opponent that is named is met, and a policy of another env is refused") {
  DefenderEnv::Config config;
  const OpponentEntry policy{.name = "red.safetensors", .spec = red_spec(100), .make = [] {
                               return std::make_unique<FirstMoves>();
                             }};
  config.opponents = std::make_shared<const Opponents>(Opponents{{.name = "meander"}, policy});
  DefenderEnv env(config);
  std::vector<float> row(env.spec().obs.size());
  std::map<bool, int> scripted;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    env.reset(seed, {row, {}});
    for (int t = 0; t < 10; ++t) { env.step(0, {row, {}}); }
    ++scripted[env.simulator().red().kind() == RedKind::meander];
  }
  CHECK(scripted[true] > 70);
  CHECK(scripted[false] > 70);

  const OpponentEntry wrong{
      .name = "blue.safetensors", .spec = defender_spec(), .make = policy.make};
  config.opponents = std::make_shared<const Opponents>(Opponents{wrong});
  CHECK_THROWS_WITH_AS(DefenderEnv{config}, doctest::Contains("trained on cage2_red"), ConfigError);
}

TEST_CASE("an opponent that is neither a script nor a file is refused with those there are") {
  CHECK_THROWS_WITH_AS(opponents_of("env.blue", "raect", blue_scripts(), {}),
                       doctest::Contains("did you mean 'react'"), ConfigError);
  CHECK_THROWS_WITH_AS(opponents_of("env.blue", " ,", blue_scripts(), {}),
                       doctest::Contains("at least one"), ConfigError);
  GameConfig game;
  game.red = "blin";
  CHECK_THROWS_WITH_AS(Simulator{game}, doctest::Contains("expected bline"), ConfigError);
}

}  // namespace penstock::cage2::red_env_test
