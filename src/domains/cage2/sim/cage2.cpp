#include "penstock/domains/cage2/sim/cage2.h"

#include <algorithm>
#include <utility>

#include "domains/cage2/sim/constrained_workflow.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/domains/cage2/sim/defender.h"
#include "penstock/domains/cage2/sim/game_env.h"
#include "penstock/domains/cage2/sim/red_env.h"
#include "penstock/domains/cage2/sim/scenario_env.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "penstock/domains/cage2/sim/workflow.h"

namespace penstock {
namespace {

/// Scenario 2 has a simulator of its own size; a file is read once for all envs.
class GameFactory final : public EnvFactory {
 public:
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override {
    if (!config_.is_scenario2()) { return cage2::ScenarioEnv(elsewhere()).spec(); }
    return config_.any() ? cage2::GameEnv(with_view()).spec() : cage2::Simulator(config_).spec();
  }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    if (!config_.is_scenario2()) {
      cage2::ScenarioEnv::Config shared = elsewhere();
      if (!shared.is_random()) { shared.network = load_network(config_); }
      return std::make_unique<BatchedEnv<cage2::ScenarioEnv>>(shared, slice, seed);
    }
    if (config_.any()) {
      return std::make_unique<BatchedEnv<cage2::GameEnv>>(with_view(), slice, seed);
    }
    return std::make_unique<BatchedEnv<cage2::Simulator>>(config_, slice, seed);
  }

 private:
  struct Keys : cage2::ScenarioEnv::Config, cage2::BlueKeys {
    template <class Visitor>
    void fields(Visitor& visit) {
      cage2::ScenarioEnv::Config::fields(visit);
      visit_view(visit);
      visit_order(visit);
    }
  };
  [[nodiscard]] cage2::GameEnv::Config with_view() const { return {config_, config_}; }
  [[nodiscard]] cage2::ScenarioEnv::Config elsewhere() const {
    if (config_.any()) {
      throw ConfigError("env.scenario = " + config_.scenario +
                        ": env.memory, env.macro, env.mask and env.num_hypotheses know the hosts "
                        "of scenario2 only; leave them out");
    }
    return config_;
  }

  Keys config_;
};

/// With a constraint its envs share multipliers.
class WorkflowFactory final : public EnvFactory {
 public:
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return cage2::WorkflowEnv(config_).spec(); }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    if (config_.constraint > 0) {
      return std::make_unique<cage2::ConstrainedWorkflow>(config_, slice, seed);
    }
    return std::make_unique<BatchedEnv<cage2::WorkflowEnv>>(config_, slice, seed);
  }

 private:
  cage2::WorkflowEnv::Config config_;
};

/// Policies of the other side are read once for all envs.
class DefenderFactory final : public EnvFactory {
 public:
  explicit DefenderFactory(cage2::OpponentLoader load) : load_(std::move(load)) {}
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return cage2::DefenderEnv(resolved()).spec(); }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    return std::make_unique<BatchedEnv<cage2::DefenderEnv>>(resolved(), slice, seed);
  }

 private:
  /// One script needs no opponents; `mix` has weights of its own.
  [[nodiscard]] cage2::DefenderEnv::Config resolved() const {
    cage2::DefenderEnv::Config config = config_;
    std::vector<std::string> own = cage2::red_scripts();
    own.emplace_back("mix");
    if (std::ranges::find(own, config.red) == own.end()) {
      config.opponents = std::make_shared<const cage2::Opponents>(
          cage2::opponents_of("env.red", config.red, cage2::red_scripts(), load_));
    }
    return config;
  }

  cage2::DefenderEnv::Config config_;
  cage2::OpponentLoader load_;
};

class RedFactory final : public EnvFactory {
 public:
  explicit RedFactory(cage2::OpponentLoader load) : load_(std::move(load)) {}
  std::vector<Field> fields() override { return fields_of(config_, "env."); }
  [[nodiscard]] EnvSpec spec() const override { return cage2::RedEnv(resolved()).spec(); }
  [[nodiscard]] std::unique_ptr<VecEnv> make_slice(EnvSlice slice,
                                                   std::uint64_t seed) const override {
    return std::make_unique<BatchedEnv<cage2::RedEnv>>(resolved(), slice, seed);
  }

 private:
  [[nodiscard]] cage2::RedEnv::Config resolved() const {
    cage2::RedEnv::Config config = config_;
    config.opponents = std::make_shared<const cage2::Opponents>(
        cage2::opponents_of("env.blue", config.blue, cage2::blue_scripts(), load_));
    return config;
  }

  cage2::RedEnv::Config config_;
  cage2::OpponentLoader load_;
};

}  // namespace

std::vector<EnvEntry> cage2_envs(cage2::OpponentLoader load) {
  return {{"cage2", "CAGE Challenge 2: defend a network of 13 hosts against an attacker",
           [] { return std::make_unique<GameFactory>(); }},
          {"cage2_workflow", "the same, where repairs should follow an order of host types",
           [] { return std::make_unique<WorkflowFactory>(); }},
          {"cage2_defender", "the same for the leader board: 45 actions worth having, and a memory",
           [load] { return std::make_unique<DefenderFactory>(load); }},
          {"cage2_red", "the other side of the same: attack the network that somebody defends",
           [load = std::move(load)] { return std::make_unique<RedFactory>(load); }}};
}

}  // namespace penstock
