#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/train/trained_run.h"
#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {

/// The attackers and the lengths of an episode that the leader board has.
inline constexpr std::array<const char*, 3> kBoardReds = {"bline", "meander", "sleep"};
inline constexpr std::array<int, 3> kBoardLengths = {30, 50, 100};

/// The games of one cell of the challenge's leader board.
struct BoardGames {
  Simulator::Config game;  // the red, the length and the rules
  std::int64_t episodes = 0;
  std::uint64_t seed = 0;  // episode i is a function of (seed, i) and of what Blue does
};

/// Plays them and gives the game's return of each.
using PlayGames = std::function<std::vector<double>(const BoardGames&)>;

/// The score of one red and one length.
struct BoardCell {
  std::string red;
  int steps = 0;
  double mean = 0;
  double std_error = 0;  // of the episodes
};

/// One key of the rules with another value.
struct RuleChange {
  std::string key;  // without "env."
  std::string value;
};

/// What the score is when the same games are played with one rule changed. `owed` is what the
/// policy owes to the rule as it is: above 0 where it scores less without it.
struct AuditRow {
  RuleChange change;
  double total = 0;
  double owed = 0;
  double std_error = 0;        // of `owed`, game by game
  std::int64_t differing = 0;  // games that end with another return
};

/// What one policy scores, and what it owes to which rule.
struct Board {
  std::vector<BoardCell> cells;  // bline, meander, sleep; 30, 50, 100 each
  double total = 0;              // the sum of the nine means, as the challenge ranks
  double std_error = 0;          // of the episodes: another training seed differs by more
  std::int64_t num_games = 0;
  std::vector<AuditRow> audit;  // by rule_changes(); nothing else was checked
};

/// How many games, and which.
struct BoardOptions {
  std::int64_t episodes = 1000;  // of a cell
  std::uint64_t seed = 0;
  bool audit = true;
};

/// Everything that can be changed about these rules, one key at a time: each switch the other way,
/// each other rule set and wrapper. Made of the keys of the config, so that none is left out.
std::vector<RuleChange> rule_changes(const Simulator::Config& game);

/// Scores by the rules of `game`, whose red and length do not matter. Every cell has games of its
/// own, so that the errors of the cells are independent.
Board score_board(const PlayGames& play, const Simulator::Config& game,
                  const BoardOptions& options);

/// The rules by name: head, leaderboard or dbg. The wrapper is the one given, which is how the
/// policy was trained to see; dbg has its own. Throws UsageError for another name.
Simulator::Config board_rules(const std::string& name, const std::string& wrapper);
/// The wrapper of the run's env. Throws UsageError when the run's env is none of cage2's.
std::string wrapper_of(const TrainedRun& run);

/// A trained policy as a player; greedy, or as it acts in training. Many envs share a forward pass,
/// in groups of a fixed size: threads do not change results. The run and the catalog must outlive
/// it.
PlayGames trained_player(const TrainedRun& run, const Catalog& catalog, bool sampled);

/// A total of another team, measured with the original simulator.
struct OfficialScore {
  const char* team;
  double total;
};
/// The totals that are known by these rules, the best first; none for dbg. By the leader board's:
/// the announcement of 12 August 2022. By head's: the winner's own measurement of its networks,
/// issue 1 of github.com/john-cardiff/-cyborg-cage-2.
std::vector<OfficialScore> official_scores(const std::string& rules);

}  // namespace penstock::cage2
