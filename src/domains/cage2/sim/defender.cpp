#include "penstock/domains/cage2/sim/defender.h"

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

/// The simulator's own red sleeps where there are others.
GameConfig game_of(const DefenderEnv::Config& config) {
  GameConfig game = config;
  if (config.opponents) { game.red = "sleep"; }
  return game;
}

BlueView view_of(const DefenderEnv::Config& config) {
  if (config.num_hypotheses > 0 && config.opponents) {
    throw ConfigError(
        "env.num_hypotheses reckons with the scripts bline, meander and sleep; with policy files "
        "in env.red set it to 0");
  }
  return {config, config};
}

}  // namespace

DefenderEnv::Config::Config() {
  red = "mix";
  mix = {10, 10, 1};
  wrapper = "v2";
  rules = "leaderboard";
  memory = true;
  macro = true;
}

DefenderEnv::DefenderEnv(const Config& config)
    : simulator_(game_of(config)),
      view_(view_of(config)),
      red_(config.opponents.get()),
      max_steps_(config.max_steps),
      board_weights_(config.board_weights) {}

EnvSpec DefenderEnv::spec() const {
  EnvSpec spec = view_.spec(Layout({{"obs", {kObsSize}}}), max_steps_);
  spec.stats = {"game_return"};
  return spec;
}

void DefenderEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {row.obs.first(kObsSize), {}});
  view_.reset();
  red_.reset(seed, simulator_);
  cost_tenths_ = 0;
  view_.write(simulator_.obs(), row);
}

Outcome DefenderEnv::step(std::int64_t choice, Row row) {
  const int weight = board_weights_ ? board_weight(view_.memory().steps()) : 1;
  const std::int64_t action = view_.action_of(choice);
  const Simulator::Trace trace = red_.advance(simulator_, action);
  view_.note(action, trace.blue_flag, simulator_.obs());
  cost_tenths_ += trace.cost_tenths;
  view_.write(simulator_.obs(), row);
  return {.reward = -trace.cost_tenths * weight / 10.0F,
          .terminated = view_.memory().steps() >= max_steps_};
}

}  // namespace penstock::cage2
