#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "penstock/core/train/trained_run.h"

namespace penstock::cage2 {

/// The games of one cell of the challenge's leader board.
struct BoardGames {
  std::string red;  // bline, meander or sleep
  int steps = 0;    // 30, 50 or 100
  std::int64_t episodes = 0;
  std::uint64_t seed = 0;       // episode i is a function of (seed, i) and of what Blue does
  bool fix_restore_ot = false;  // Restore of Op_Server0 does not disarm Impact
};

/// Plays them and gives the game's return of each, by the rules `leaderboard`.
using PlayGames = std::function<std::vector<double>(const BoardGames&)>;

/// The score of one red and one length.
struct BoardCell {
  std::string red;
  int steps = 0;
  double mean = 0;
  double std_error = 0;
  double fixed_mean = 0;       // the audit's: the same games with fix_restore_ot
  std::int64_t differing = 0;  // games that end with another return then
};

/// What a defender scores, and whether it lives on an error of the game: after one Restore of
/// Op_Server0 the challenge's Impact never stops the service again. The audit plays the same games
/// without that error.
struct Board {
  std::vector<BoardCell> cells;  // bline, meander, sleep; 30, 50, 100 each
  double total = 0;              // the sum of the nine means, as the challenge ranks
  double std_error = 0;
  double fixed_total = 0;
  std::int64_t num_games = 0;
  std::int64_t differing = 0;

  /// More than a point of the total is owed to the error.
  [[nodiscard]] bool exploits_restore() const { return total - fixed_total > kTolerated; }
  static constexpr double kTolerated = 1.0;
};

/// How many games, and which.
struct BoardOptions {
  std::int64_t episodes = 1000;  // of a cell
  std::uint64_t seed = 0;
};

/// Every cell has games of its own, so that the errors of the cells are independent.
Board score_board(const PlayGames& play, const BoardOptions& options);

/// A trained policy as a player; greedy, or as it acts in training. Many envs share a forward pass,
/// in groups of a fixed size: threads do not change results. Throws UsageError when the run's env
/// is none of cage2's. The run and the catalog must outlive it.
PlayGames trained_player(const TrainedRun& run, const Catalog& catalog, bool sampled);

/// From the announcement of 12 August 2022: the winner and the second.
struct OfficialScore {
  const char* team;
  double total;
};
inline constexpr OfficialScore kWinner = {"CardiffUni", -54.57};
inline constexpr OfficialScore kSecond = {"Keeping-it-RL", -56.90};

}  // namespace penstock::cage2
