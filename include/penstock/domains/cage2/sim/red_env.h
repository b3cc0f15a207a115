#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/memory.h"
#include "penstock/domains/cage2/sim/opponent.h"
#include "penstock/domains/cage2/sim/red_memory.h"
#include "penstock/domains/cage2/sim/scripts.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// What an attacker of so many steps sees and does.
EnvSpec red_spec(std::int64_t max_steps);

/// The words that `env.blue` knows beside files.
std::vector<std::string> blue_scripts();

/// The other side of the game: red chooses, against scripts or trained defenders, and earns what
/// Blue pays. It sees what the scripts of the challenge go by, see RedMemory; which exploit is used
/// and whether it is detected chance decides, as for the scripts. An episode ends for good after
/// max_steps.
class RedEnv {
 public:
  struct Config : GameConfig {
    /// wrapper = v2, rules = leaderboard, as DefenderEnv has them.
    Config();
    std::string blue = "react";
    /// Not a key: those that `blue` names. None: one script.
    std::shared_ptr<const Opponents> opponents = {};

    template <class Visitor>
    void fields(Visitor& visit) {
      visit_length(visit);
      visit("blue", blue,
            "defender: sleep, random, react, decoy_first, or policy files of cage2_defender or "
            "cage2, with commas; of several, one is drawn for each episode");
      visit_rules(visit);
    }
  };

  /// Throws ConfigError.
  explicit RedEnv(const Config& config);

  /// One part, "red"; masked actions.
  [[nodiscard]] EnvSpec spec() const { return red_spec(max_steps_); }
  void reset(std::uint64_t seed, Row row);
  /// `action` in [0, kNumRedActions); anything else is sleep. The reward is Blue's cost.
  Outcome step(std::int64_t action, Row row);

  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const RedMemory& memory() const { return memory_; }

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(simulator_, memory_, blue_memory_, seed_, drawn_, script_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  struct Blue {
    Script script = Script::sleep;
    std::unique_ptr<Opponent> policy;  // none: the script
    bool remembers = false;            // of cage2_defender: memory and macro actions
  };
  static std::vector<Blue> blues_of(const Config& config);
  std::int64_t blue_action();
  void write(Row row) const;
  void require_possible() const;

  Simulator simulator_;
  std::vector<Blue> blues_;
  std::vector<float> blue_row_;
  RedMemory memory_;
  Memory blue_memory_;
  ScriptedBlue script_;
  std::uint64_t seed_ = 0;
  std::uint32_t drawn_ = 0;
  std::int64_t max_steps_;
};

}  // namespace penstock::cage2
