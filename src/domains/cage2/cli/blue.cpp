#include "domains/cage2/cli/blue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/note.h"
#include "penstock/domains/cage2/sim/blue_view.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/game_env.h"
#include "penstock/domains/cage2/sim/keys.h"
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

/// A policy, with what it was trained to see and to do.
class Trained final : public Blue {
 public:
  Trained(const TrainedRun& run, bool sampled, BlueView view)
      : actor_(make_actor(run.player.model)),
        row_(run.player.model->spec().obs.size()),
        masked_(run.player.model->spec().action.masked()),
        view_(std::move(view)),
        sampled_(sampled) {}

  void reset(std::uint64_t seed) override {
    view_.reset();
    noise_ = {.seed = seed};
  }

  Decision act(ObsBits obs) override {
    const std::span<bool> legal = std::span(legal_).first(masked_ ? view_.num_choices() : 0);
    view_.write(obs, {row_, legal});
    Decision decision;
    float log_prob = 0;
    actor_->act({.count = 1, .obs = row_, .legal = legal},
                {.choices = {&decision.choice, 1}, .log_prob = {&log_prob, 1}},
                sampled_ ? &noise_ : nullptr);
    if (sampled_) { decision.log_prob = log_prob; }
    ++noise_.step;
    decision.action = view_.action_of(decision.choice);
    return decision;
  }

  void note(std::int64_t action, Flag flag, ObsBits obs) override { view_.note(action, flag, obs); }

 private:
  std::unique_ptr<Actor> actor_;
  std::vector<float> row_;  // [F]
  std::array<bool, kNumActions> legal_{};
  bool masked_;
  BlueView view_;
  ActionNoise noise_;
  bool sampled_;
};

const std::string& env_of(const TrainedRun& run) { return run.plan->config().env.id; }

void require_scenario2(const TrainedRun& run) {
  const Setting* scenario = run.settings.find("env.scenario");
  if (scenario != nullptr && scenario->text != "scenario2") {
    throw UsageError(
        fmt::format("the run's env.scenario is {}: only policies of scenario2 can do this; play "
                    "others with: penstock eval RUN",
                    scenario->text));
  }
}

template <class Config>
Config take_keys(const TrainedRun& run, BluePlayer& player) {
  const auto config = config_from<Config>(run.settings);
  player.game = config;
  player.keys = config;
  return config;
}

/// What the run was trained on, into `player`.
void take_env(const TrainedRun& run, BluePlayer& player) {
  const std::string& env = env_of(run);
  if (env == "cage2") {
    require_scenario2(run);
    take_keys<GameEnv::Config>(run, player);
  } else if (env == "cage2_defender") {
    take_keys<DefenderEnv::Config>(run, player);
  } else if (env == "cage2_workflow") {
    const auto config = take_keys<WorkflowEnv::Config>(run, player);
    player.is_judged = true;
    player.rule_a = config.compliance_rule == "A";
    player.shows_order = config.show_order;
  } else {
    throw UsageError(
        fmt::format("the run's env is {}: only policies of cage2_defender, cage2_workflow and "
                    "cage2 can do this; train one with: penstock train --recipe cage2-defender",
                    env));
  }
}

/// The order that was asked for, in the place of the run's.
void take_order(const BlueChoice& choice, BluePlayer& player) {
  if (!choice.order.empty()) {
    if (!player.is_judged) {
      throw UsageError("--order: only policies of cage2_workflow keep an order");
    }
    player.keys.order = order_name(order_of(choice.order));
  }
  if (player.keys.order == "random") {
    throw UsageError(
        "the run serves all orders: name one, as --order "
        "op_server,enterprise,op_host,user,defender");
  }
}

}  // namespace

BluePlayer scripted_blue(const std::string& name) {
  return {.run = nullptr, .blue = std::make_unique<Scripted>(script_of(name)), .game = {}};
}

BluePlayer trained_blue(const BlueChoice& choice, const Catalog& catalog) {
  BluePlayer player;
  player.run = std::make_unique<TrainedRun>(
      open_run({.dir = choice.name, .checkpoint = choice.checkpoint}, catalog, print_note));
  take_env(*player.run, player);
  take_order(choice, player);
  player.blue = std::make_unique<Trained>(*player.run, choice.sampled,
                                          BlueView(player.keys, player.game, player.shows_order));
  return player;
}

BluePlayer make_blue(const BlueChoice& choice, const Catalog& catalog) {
  if (std::filesystem::is_directory(choice.name)) { return trained_blue(choice, catalog); }
  if (!choice.order.empty()) { throw UsageError("--order: a script keeps no order"); }
  return scripted_blue(choice.name);
}

}  // namespace penstock::cage2
