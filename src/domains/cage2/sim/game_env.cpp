#include "penstock/domains/cage2/sim/game_env.h"

namespace penstock::cage2 {

GameEnv::GameEnv(const Config& config) : simulator_(config), view_(config, config) {}

EnvSpec GameEnv::spec() const {
  const EnvSpec game = simulator_.spec();
  return view_.spec(game.obs, game.max_episode_steps);
}

void GameEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {row.obs.first(kObsSize), {}});
  view_.reset();
  view_.write(simulator_.obs(), row);
}

Outcome GameEnv::step(std::int64_t choice, Row row) {
  const std::int64_t action = view_.action_of(choice);
  const Simulator::Trace trace = simulator_.advance(action);
  view_.note(action, trace.blue_flag, simulator_.obs());
  view_.write(simulator_.obs(), row);
  return {.reward = -trace.cost_tenths / 10.0F};
}

}  // namespace penstock::cage2
