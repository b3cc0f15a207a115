#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/domains/cage2/sim/blue_view.h"
#include "penstock/domains/cage2/sim/red_opponent.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// The game of `cage2` for a defender that is to win it: as it comes, 45 actions that are worth
/// having instead of 145, and a memory beside the 52 bits. It knows no more than the challenge's
/// Blue agent does. Defaults are those of the leader board. An episode ends for good after
/// max_steps.
///
/// Success stays unknown. The reward is minus the game's cost, times the weight of the step.
class DefenderEnv {
 public:
  struct Config : Simulator::Config, BlueKeys {
    /// red = mix of 10, 10 and 1, wrapper = v2, rules = leaderboard, memory and macro actions.
    Config();
    bool board_weights = false;
    /// Not a key: attackers instead of those that `red` names, one drawn for each episode.
    std::shared_ptr<const Opponents> opponents = {};

    template <class Visitor>
    void fields(Visitor& visit) {
      fields_against(visit, {});
      visit("board_weights", board_weights,
            "a step's reward counts as often as the leader board counts it: three times among the "
            "first 30, twice up to 50");
      visit_view(visit);
      visit_order(visit);
    }
  };

  /// Throws ConfigError.
  explicit DefenderEnv(const Config& config);

  /// Parts "obs" {52}, "memory" and "belief", as configured; the statistic game_return.
  [[nodiscard]] EnvSpec spec() const;
  /// The same seed is the same game as of Simulator.
  void reset(std::uint64_t seed, Row row);
  /// A macro action where the config says so; anything else is sleep. Terminates by itself after
  /// max_steps.
  Outcome step(std::int64_t choice, Row row);
  void episode_stats(std::span<double> stats) const { stats[0] = game_return(); }

  /// For tests and pictures; a policy must not look at it.
  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const BlueView& view() const { return view_; }
  /// Unweighted.
  [[nodiscard]] double game_return() const { return -static_cast<double>(cost_tenths_) / 10.0; }

  template <class Archive>
  void state(Archive& archive) {
    archive(simulator_, view_, cost_tenths_);
    if (!red_.empty()) { archive(red_); }
  }

 private:
  Simulator simulator_;
  BlueView view_;
  RedOpponent red_;               // empty: the simulator's own
  std::int64_t cost_tenths_ = 0;  // of the episode so far, unweighted
  std::int64_t max_steps_;
  bool board_weights_;
};

/// How many lengths of the leader board (30, 50, 100) the step belongs to; steps count from 0. 1
/// from step 50 on.
constexpr int board_weight(std::int64_t step) { return step < 30 ? 3 : step < 50 ? 2 : 1; }

}  // namespace penstock::cage2
