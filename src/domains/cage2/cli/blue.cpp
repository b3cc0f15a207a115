#include "domains/cage2/cli/blue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/note.h"
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

/// A policy of `cage2`, or of `cage2_defender` with its memory, its belief and macro actions.
class Trained final : public Blue {
 public:
  Trained(const TrainedRun& run, bool sampled, bool remembers, std::optional<BeliefFilter> filter)
      : actor_(make_actor(run.player.model)),
        row_(run.player.model->spec().obs.size()),
        filter_(std::move(filter)),
        sampled_(sampled),
        remembers_(remembers) {}

  void reset(std::uint64_t seed) override {
    memory_.reset();
    if (filter_) { filter_->reset(); }
    noise_ = {.seed = seed};
  }

  Decision act(ObsBits obs) override {
    write_obs(obs, std::span(row_).first(kObsSize));
    if (remembers_) { memory_.write(std::span(row_).subspan(kObsSize, Memory::kSize)); }
    if (filter_) { filter_->write(std::span(row_).last(BeliefFilter::kSize)); }
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
    if (filter_) { filter_->note(action, flag, obs); }
  }

 private:
  std::unique_ptr<Actor> actor_;
  std::vector<float> row_;  // [F]
  Memory memory_;
  std::optional<BeliefFilter> filter_;
  ActionNoise noise_;
  bool sampled_;
  bool remembers_;
};

constexpr const char* kDefender = "cage2_defender";

const std::string& env_of(const TrainedRun& run) { return run.plan->config().env.id; }

/// Those of the settings that are keys of this config.
template <class Config>
Config config_from(const Settings& settings) {
  Config config;
  std::vector<Field> fields = fields_of(config, "env.");
  Settings own;
  for (const Setting& setting : settings.all()) {
    const auto same = [&](const Field& field) { return field.path == setting.path; };
    if (std::ranges::any_of(fields, same)) { own.append(setting); }
  }
  penstock::apply(fields, own);
  return config;
}

Simulator::Config game_of(const TrainedRun& run) {
  const std::string& env = env_of(run);
  if (env == kDefender) { return config_from<DefenderEnv::Config>(run.settings); }
  if (env == "cage2") {
    const Setting* scenario = run.settings.find("env.scenario");
    if (scenario != nullptr && scenario->text != "scenario2") {
      throw UsageError(
          fmt::format("the run's env.scenario is {}: only policies of scenario2 can do this; play "
                      "others with: penstock eval RUN",
                      scenario->text));
    }
    return config_from<Simulator::Config>(run.settings);
  }
  throw UsageError(
      fmt::format("the run's env is {}: only policies of cage2_defender and cage2 can do this; "
                  "train one with: penstock train --recipe cage2-defender",
                  env));
}

std::optional<BeliefFilter> filter_of(const BluePlayer& player) {
  if (player.num_hypotheses == 0) { return {}; }
  return BeliefFilter(player.game, static_cast<std::size_t>(player.num_hypotheses));
}

}  // namespace

bool BluePlayer::is_defender() const { return run != nullptr && env_of(*run) == kDefender; }

BluePlayer scripted_blue(const std::string& name) {
  return {.run = nullptr,
          .blue = std::make_unique<Scripted>(script_of(name)),
          .game = {},
          .num_hypotheses = 0};
}

BluePlayer trained_blue(const BlueChoice& choice, const Catalog& catalog) {
  BluePlayer player;
  player.run = std::make_unique<TrainedRun>(
      open_run({.dir = choice.name, .checkpoint = choice.checkpoint}, catalog, print_note));
  player.game = game_of(*player.run);
  if (player.is_defender()) {
    player.num_hypotheses = config_from<DefenderEnv::Config>(player.run->settings).num_hypotheses;
  }
  player.blue = std::make_unique<Trained>(*player.run, choice.sampled, player.is_defender(),
                                          filter_of(player));
  return player;
}

BluePlayer make_blue(const BlueChoice& choice, const Catalog& catalog) {
  return std::filesystem::is_directory(choice.name) ? trained_blue(choice, catalog)
                                                    : scripted_blue(choice.name);
}

}  // namespace penstock::cage2
