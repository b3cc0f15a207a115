#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "penstock/domains/cage2/sim/belief.h"
#include "penstock/domains/cage2/sim/memory.h"
#include "penstock/domains/cage2/sim/red_opponent.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// Sleep, then Analyse, Remove, Restore and "the next decoy" for each of kDefended.
constexpr std::size_t kNumMacros = 1 + 4 * kNumDefended;

/// The action of the 145 that a macro action means to a defender who remembers this much. Anything
/// else is sleep.
std::int64_t macro_action(std::int64_t macro, const Memory& memory);

/// The game of `cage2` for a defender that is to win it: 45 actions that are worth having instead
/// of 145, and a memory beside the 52 bits. It knows no more than the challenge's Blue agent does:
/// the memory is made of its own actions and observations. Defaults are those of the leader board.
/// An episode ends for good after max_steps.
///
/// Success stays unknown. The reward is minus the game's cost, times the weight of the step.
class DefenderEnv {
 public:
  struct Config : Simulator::Config {
    /// red = mix of 10, 10 and 1, wrapper = v2, rules = leaderboard.
    Config();
    bool board_weights = false;
    std::int64_t num_hypotheses = 0;
    /// Not a key: attackers instead of those that `red` names, one drawn for each episode.
    std::shared_ptr<const Opponents> opponents = {};

    template <class Visitor>
    void fields(Visitor& visit) {
      fields_against(visit, {});
      visit("board_weights", board_weights,
            "a step's reward counts as often as the leader board counts it: three times among the "
            "first 30, twice up to 50");
      visit("num_hypotheses", num_hypotheses,
            "most hypotheses of a filter whose beliefs about red are a part of the observation; 0: "
            "no filter",
            Range{0, 100000});
    }
  };

  /// Throws ConfigError.
  explicit DefenderEnv(const Config& config);

  /// Parts "obs" {52}, "memory" and, where it is asked for, "belief"; the statistic game_return.
  [[nodiscard]] EnvSpec spec() const;
  /// The same seed is the same game as of Simulator.
  void reset(std::uint64_t seed, Row row);
  /// `macro` in [0, kNumMacros); anything else is sleep. Terminates by itself after max_steps.
  Outcome step(std::int64_t macro, Row row);
  void episode_stats(std::span<double> stats) const { stats[0] = game_return(); }

  /// For tests and pictures; a policy must not look at it.
  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const std::optional<BeliefFilter>& filter() const { return filter_; }
  /// Unweighted.
  [[nodiscard]] double game_return() const { return -static_cast<double>(cost_tenths_) / 10.0; }

  template <class Archive>
  void state(Archive& archive) {
    archive(simulator_, memory_, cost_tenths_);
    if (!red_.empty()) { archive(red_); }
    if (filter_) { archive(*filter_); }
  }

 private:
  void write(Row row) const;

  Simulator simulator_;
  Memory memory_;
  RedOpponent red_;  // empty: the simulator's own
  std::optional<BeliefFilter> filter_;
  std::int64_t cost_tenths_ = 0;  // of the episode so far, unweighted
  std::int64_t max_steps_;
  bool board_weights_;
};

/// How many lengths of the leader board (30, 50, 100) the step belongs to; steps count from 0. 1
/// from step 50 on.
constexpr int board_weight(std::int64_t step) { return step < 30 ? 3 : step < 50 ? 2 : 1; }

}  // namespace penstock::cage2
