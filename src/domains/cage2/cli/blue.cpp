#include "domains/cage2/cli/blue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/memory.h"
#include "penstock/domains/cage2/sim/scripts.h"

namespace penstock::cage2 {
namespace {

/// Scripts see the table alone.
class Scripted final : public Blue {
 public:
  explicit Scripted(Script script) : script_(script) {}
  void reset(std::uint64_t seed) override { script_.reset(seed); }
  Decision act(ObsBits obs) override {
    const std::int64_t action = script_.act(obs);
    return {.action = action, .choice = action};
  }
  void note(std::int64_t /*action*/, Flag /*flag*/, ObsBits /*obs*/) override {}

 private:
  ScriptedBlue script_;
};

/// A policy of `cage2`, or of `cage2_defender` with its memory and macro actions.
class Trained final : public Blue {
 public:
  Trained(const TrainedRun& run, bool sampled, bool remembers)
      : actor_(make_actor(run.player.model)),
        row_(run.player.model->spec().obs.size()),
        sampled_(sampled),
        remembers_(remembers) {}

  void reset(std::uint64_t seed) override {
    memory_.reset();
    noise_ = {.seed = seed};
  }

  Decision act(ObsBits obs) override {
    write_obs(obs, std::span(row_).first(kObsSize));
    if (remembers_) { memory_.write(std::span(row_).subspan(kObsSize, Memory::kSize)); }
    Decision decision;
    float log_prob = 0;
    actor_->act({.count = 1, .obs = row_},
                {.choices = {&decision.choice, 1}, .log_prob = {&log_prob, 1}},
                sampled_ ? &noise_ : nullptr);
    if (sampled_) { decision.log_prob = log_prob; }
    ++noise_.step;
    decision.action = remembers_ ? macro_action(decision.choice, memory_) : decision.choice;
    return decision;
  }

  void note(std::int64_t action, Flag flag, ObsBits obs) override {
    memory_.note(action, flag, obs);
  }

 private:
  std::unique_ptr<Actor> actor_;
  std::vector<float> row_;  // [F]
  Memory memory_;
  ActionNoise noise_;
  bool sampled_;
  bool remembers_;
};

constexpr const char* kDefender = "cage2_defender";

const std::string& env_of(const TrainedRun& run) { return run.plan->config().env.id; }

/// Those of the settings that are keys of this config.
template <class Config>
Simulator::Config game_from(const Settings& settings) {
  Config config;
  std::vector<Field> fields = fields_of(config, "env.");
  Settings own;
  for (const Setting& setting : settings.all()) {
    const auto same = [&](const Field& field) { return field.path == setting.path; };
    if (std::ranges::any_of(fields, same)) { own.append(setting); }
  }
  penstock::apply(fields, own);
  return static_cast<const Simulator::Config&>(config);
}

Simulator::Config game_of(const TrainedRun& run) {
  const std::string& env = env_of(run);
  if (env == kDefender) { return game_from<DefenderEnv::Config>(run.settings); }
  if (env == "cage2") { return game_from<Simulator::Config>(run.settings); }
  throw UsageError(
      fmt::format("the run's env is {}: only policies of cage2_defender and cage2 can do this; "
                  "train one with: penstock train --recipe cage2-defender",
                  env));
}

}  // namespace

bool BluePlayer::is_defender() const { return run != nullptr && env_of(*run) == kDefender; }

BluePlayer scripted_blue(const std::string& name) {
  return {.run = nullptr, .blue = std::make_unique<Scripted>(script_of(name)), .game = {}};
}

BluePlayer trained_blue(const BlueChoice& choice, const Catalog& catalog) {
  BluePlayer player;
  player.run = std::make_unique<TrainedRun>(
      open_run({.dir = choice.name, .checkpoint = choice.checkpoint}, catalog,
               [](const std::string& text) { fmt::print(stderr, "penstock: {}\n", text); }));
  player.game = game_of(*player.run);
  player.blue = std::make_unique<Trained>(*player.run, choice.sampled, player.is_defender());
  return player;
}

BluePlayer make_blue(const BlueChoice& choice, const Catalog& catalog) {
  return std::filesystem::is_directory(choice.name) ? trained_blue(choice, catalog)
                                                    : scripted_blue(choice.name);
}

}  // namespace penstock::cage2
