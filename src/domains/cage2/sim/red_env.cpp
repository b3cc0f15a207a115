#include "penstock/domains/cage2/sim/red_env.h"

#include <algorithm>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/defender.h"

namespace penstock::cage2 {
namespace {

GameConfig without_red(GameConfig config) {
  config.red = "sleep";
  return config;
}

}  // namespace

EnvSpec red_spec(std::int64_t max_steps) {
  return {Layout({{"red", {RedMemory::kSize}}}), Discrete{kNumRedActions, true}, max_steps};
}

std::vector<std::string> blue_scripts() { return {"sleep", "random", "react", "decoy_first"}; }

RedEnv::Config::Config() {
  wrapper = "v2";
  rules = "leaderboard";
}

std::vector<RedEnv::Blue> RedEnv::blues_of(const Config& config) {
  const Opponents named = config.opponents
                              ? *config.opponents
                              : opponents_of("env.blue", config.blue, blue_scripts(), {});
  const EnvSpec defender = DefenderEnv(DefenderEnv::Config{}).spec();
  std::vector<Blue> blues;
  for (const OpponentEntry& entry : named) {
    Blue& blue = blues.emplace_back();
    if (!entry.make) {
      blue.script = script_of(entry.name);
      continue;
    }
    blue.remembers = entry.spec.obs.size() == defender.obs.size();
    const EnvSpec wanted = blue.remembers ? defender : Simulator(GameConfig{}).spec();
    require_spec("env.blue", entry, wanted, "cage2_defender or cage2");
    blue.policy = entry.make();
  }
  return blues;
}

RedEnv::RedEnv(const Config& config)
    : simulator_(without_red(config)),
      blues_(blues_of(config)),
      blue_row_(kObsSize + Memory::kSize),
      script_(Script::sleep),
      max_steps_(config.max_steps) {}

void RedEnv::reset(std::uint64_t seed, Row row) {
  simulator_.reset(seed, {std::span(blue_row_).first(kObsSize), {}});
  seed_ = seed;
  drawn_ = draw_opponent(seed, blues_.size());
  memory_.reset();
  blue_memory_.reset();
  script_ = ScriptedBlue(blues_[drawn_].script);
  script_.reset(seed);
  write(row);
}

std::int64_t RedEnv::blue_action() {
  const Blue& blue = blues_[drawn_];
  if (!blue.policy) { return script_.act(simulator_.obs()); }
  write_obs(simulator_.obs(), std::span(blue_row_).first(kObsSize));
  if (blue.remembers) { blue_memory_.write(std::span(blue_row_).subspan(kObsSize)); }
  const std::span<const float> seen =
      std::span(blue_row_).first(blue.remembers ? blue_row_.size() : kObsSize);
  const std::int64_t choice = blue.policy->choose(seen, {}, seed_, memory_.steps());
  return blue.remembers ? macro_action(choice, blue_memory_) : choice;
}

Outcome RedEnv::step(std::int64_t action, Row row) {
  const std::int64_t blue = blue_action();
  const Simulator::Trace trace = simulator_.advance_by(blue, red_intent(action));
  blue_memory_.note(blue, trace.blue_flag, simulator_.obs());
  memory_.note(trace.red, trace.red_flag);
  write(row);
  return {.reward = trace.cost_tenths / 10.0F, .terminated = memory_.steps() >= max_steps_};
}

void RedEnv::write(Row row) const {
  memory_.write(simulator_.world(), row.obs);
  RedMemory::write_mask(simulator_.world(), row.legal);
}

void RedEnv::require_possible() const {
  if (drawn_ >= blues_.size()) { throw DataError("env state: a defender that env.blue has not"); }
}

}  // namespace penstock::cage2
