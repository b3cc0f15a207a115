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

enum class MacroKind : std::uint8_t { analyse, remove, restore, decoy };

}  // namespace

std::int64_t macro_action(std::int64_t macro, const Memory& memory) {
  if (macro < 1 || macro >= static_cast<std::int64_t>(kNumMacros)) { return 0; }
  const std::size_t number = macro - 1;
  const std::uint8_t host = kDefended[number % kNumDefended];
  switch (static_cast<MacroKind>(number / kNumDefended)) {
    case MacroKind::analyse:
      return action_index(BlueKind::analyse, host);
    case MacroKind::remove:
      return action_index(BlueKind::remove, host);
    case MacroKind::restore:
      return action_index(BlueKind::restore, host);
    default:
      return memory.next_decoy(host);
  }
}

DefenderEnv::Config::Config() {
  red = "mix";
  mix = {10, 10, 1};
  wrapper = "v2";
  rules = "leaderboard";
}

DefenderEnv::DefenderEnv(const Config& config)
    : simulator_(game_of(config)),
      red_(config.opponents.get()),
      max_steps_(config.max_steps),
      board_weights_(config.board_weights) {
  if (config.num_hypotheses == 0) { return; }
  if (config.opponents) {
    throw ConfigError(
        "env.num_hypotheses reckons with the scripts bline, meander and sleep; with policy files "
        "in env.red set it to 0");
  }
  filter_.emplace(config, static_cast<std::size_t>(config.num_hypotheses));
}

EnvSpec DefenderEnv::spec() const {
  EnvSpec spec{Layout({{"obs", {kObsSize}}, {"memory", {Memory::kSize}}}), Discrete{kNumMacros},
               max_steps_};
  if (filter_) { spec.obs.append("belief", {BeliefFilter::kSize}); }
  spec.stats = {"game_return"};
  return spec;
}

void DefenderEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {row.obs.first(kObsSize), {}});
  memory_.reset();
  red_.reset(seed, simulator_);
  if (filter_) { filter_->reset(); }
  cost_tenths_ = 0;
  write(row);
}

Outcome DefenderEnv::step(std::int64_t macro, Row row) {
  const int weight = board_weights_ ? board_weight(memory_.steps()) : 1;
  const std::int64_t action = macro_action(macro, memory_);
  const Simulator::Trace trace = red_.advance(simulator_, action);
  memory_.note(action, trace.blue_flag, simulator_.obs());
  if (filter_) { filter_->note(action, trace.blue_flag, simulator_.obs()); }
  cost_tenths_ += trace.cost_tenths;
  write(row);
  return {.reward = -trace.cost_tenths * weight / 10.0F,
          .terminated = memory_.steps() >= max_steps_};
}

void DefenderEnv::write(Row row) const {
  write_obs(simulator_.obs(), row.obs.first(kObsSize));
  memory_.write(row.obs.subspan(kObsSize, Memory::kSize));
  if (filter_) { filter_->write(row.obs.subspan(kObsSize + Memory::kSize, BeliefFilter::kSize)); }
}

}  // namespace penstock::cage2
