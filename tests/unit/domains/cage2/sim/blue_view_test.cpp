#include "penstock/domains/cage2/sim/blue_view.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "masked.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/game_env.h"
#include "penstock/domains/cage2/sim/workflow.h"
#include "support.h"

namespace penstock::cage2::blue_view_test {
namespace {

constexpr const char* kServersFirst = "op_server,enterprise,op_host,user,defender";

/// A config of any env of Blue's side, with all that it may be given.
template <class Config>
Config with_all(const std::string& mask) {
  Config config;
  config.red = "meander";
  config.rules = "head";
  config.wrapper = "v2";
  config.mix = {1, 1, 1};
  config.order = kServersFirst;
  config.memory = true;
  config.macro = true;
  config.mask = mask;
  config.num_hypotheses = 8;
  return config;
}

std::vector<float> part_of(const EnvSpec& spec, const std::vector<float>& row, const char* name) {
  const Part& part = spec.obs.part(name);
  const auto begin = row.begin() + static_cast<std::ptrdiff_t>(part.offset);
  return {begin, begin + static_cast<std::ptrdiff_t>(part.size)};
}

TEST_CASE("one game of one seed is shown alike by every env of Blue's side") {
  for (const char* mask : {"none", "legal", "order"}) {
    test::Masked<GameEnv> game(with_all<GameEnv::Config>(mask));
    test::Masked<DefenderEnv> defender(with_all<DefenderEnv::Config>(mask));
    test::Masked<WorkflowEnv> workflow(with_all<WorkflowEnv::Config>(mask));
    CHECK(game.env.spec().action.masked() == (std::string(mask) != "none"));
    CHECK(game.num_actions == kNumMacros);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      game.reset(seed);
      defender.reset(seed);
      workflow.reset(seed);
      Random random(seed);
      for (int t = 0; t < 60; ++t) {
        const std::int64_t choice = random.below(kNumMacros);
        CHECK(game.step(choice).reward == defender.step(choice).reward);
        workflow.step(choice);
        REQUIRE(std::equal(game.row.begin(), game.row.begin() + kObsSize, workflow.row.begin()));
        REQUIRE(game.row == defender.row);
        REQUIRE(game.copied() == defender.copied());
        REQUIRE(game.copied() == workflow.copied());
        for (const char* part : {"memory", "belief"}) {
          REQUIRE(part_of(game.env.spec(), game.row, part) ==
                  part_of(workflow.env.spec(), workflow.row, part));
        }
      }
    }
  }
}

TEST_CASE("the parts are the memory and the belief that follow the game from outside") {
  const auto config = with_all<GameEnv::Config>("legal");
  test::Masked<GameEnv> game(config);
  BeliefFilter filter(config, 8);
  Memory memory;
  Simulator twin = test::make("meander", config);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    game.reset(seed);
    test::reset(twin, seed);
    filter.reset();
    memory.reset();
    Random random(seed);
    for (int t = 0; t < 60; ++t) {
      const std::int64_t choice = random.below(kNumMacros);
      const std::int64_t action = macro_action(choice, memory);
      game.step(choice);
      const Simulator::Trace trace = twin.advance(action);
      memory.note(action, trace.blue_flag, twin.obs());
      filter.note(action, trace.blue_flag, twin.obs());
      std::vector<float> expected(kObsSize + Memory::kSize + BeliefFilter::kSize);
      write_obs(twin.obs(), std::span(expected).first(kObsSize));
      memory.write(std::span(expected).subspan(kObsSize, Memory::kSize));
      filter.write(std::span(expected).last(BeliefFilter::kSize));
      REQUIRE(game.row == expected);
      for (std::size_t i = 0; i < kNumMacros; ++i) {
        const std::int64_t meant = macro_action(static_cast<std::int64_t>(i), memory);
        REQUIRE(game.mask()[i] == !is_futile(meant, memory));
      }
    }
  }
}

TEST_CASE("without any key the game is the simulator's, step by step") {
  GameEnv::Config config;
  config.red = "mix";
  test::Masked<GameEnv> game(config);
  Simulator plain(config);
  std::vector<float> row(kObsSize);
  CHECK(game.env.spec().obs.parts().front().name == "hosts");
  CHECK(game.row.size() == kObsSize);
  CHECK(game.num_actions == kNumActions);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    game.reset(seed);
    plain.reset(seed, {row, {}});
    Random random(seed);
    for (int t = 0; t < 100; ++t) {
      const std::int64_t action = test::random_action(random);
      const Outcome a = game.step(action);
      const Outcome b = plain.step(action, {row, {}});
      REQUIRE(a.reward == b.reward);
      REQUIRE_FALSE(a.terminated);
      REQUIRE(game.row == row);
    }
  }
}

TEST_CASE("an episode with memory and beliefs goes on from its bytes") {
  const auto config = with_all<GameEnv::Config>("order");
  test::Masked<GameEnv> game(config);
  test::Masked<GameEnv> loaded(config);
  Random random(5);
  game.reset(3);
  for (int t = 0; t < 30; ++t) { game.step(random.below(kNumMacros)); }
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(game.env);
  StateReader reader(bytes);
  reader(loaded.env);
  for (int t = 0; t < 30; ++t) {
    const std::int64_t choice = random.below(kNumMacros);
    CHECK(game.step(choice).reward == loaded.step(choice).reward);
    REQUIRE(game.row == loaded.row);
    REQUIRE(game.copied() == loaded.copied());
  }
}

TEST_CASE("an order that is random, and a network of hosts that the memory does not know") {
  GameEnv::Config config;
  config.mask = "order";
  config.order = "random";
  CHECK_THROWS_AS(GameEnv{config}, ConfigError);
  const std::vector<EnvEntry> envs = cage2_envs();
  const EnvEntry& entry = *std::ranges::find(envs, "cage2", &EnvEntry::name);
  const EnvEntry elsewhere =
      with_settings(entry, {"env.scenario=random", "env.memory=true"}, "test");
  CHECK_THROWS_WITH_AS(static_cast<void>(elsewhere.make_factory()->spec()),
                       doctest::Contains("scenario2 only"), ConfigError);
}

}  // namespace
}  // namespace penstock::cage2::blue_view_test
