#include "penstock/domains/cage2/workflow/leaderboard.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <set>

#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2 {
namespace {

/// Plays a script of actions, then sleeps.
PlayGames scripted(std::vector<std::int64_t> first) {
  return [first = std::move(first)](const BoardGames& games) {
    Simulator::Config config;
    config.red = games.red;
    config.rules = "leaderboard";
    config.fix_restore_ot = games.fix_restore_ot;
    Simulator simulator(config);
    std::vector<double> returns;
    for (std::int64_t i = 0; i < games.episodes; ++i) {
      std::array<float, kObsSize> row{};
      simulator.reset(games.seed + static_cast<std::uint64_t>(i), {row, {}});
      int cost = 0;
      for (std::size_t t = 0; t < static_cast<std::size_t>(games.steps); ++t) {
        cost += simulator.advance(t < first.size() ? first[t] : 0).cost_tenths;
      }
      returns.push_back(-cost / 10.0);
    }
    return returns;
  };
}

TEST_CASE("the board has nine cells of games of their own, and the total is their sum") {
  std::set<std::uint64_t> seeds;
  const PlayGames sleeper = scripted({});
  const Board board = score_board(
      [&](const BoardGames& games) {
        CHECK(games.episodes == 40);
        seeds.insert(games.seed);
        return sleeper(games);
      },
      {.episodes = 40, .seed = 3});
  REQUIRE(board.cells.size() == 9);
  CHECK(seeds.size() == 9);
  CHECK(board.num_games == 360);
  double sum = 0;
  double squares = 0;
  for (const BoardCell& cell : board.cells) {
    sum += cell.mean;
    squares += cell.std_error * cell.std_error;
    if (cell.red == "sleep") {
      CHECK(cell.mean == 0);
    } else {
      CHECK(cell.std_error > 0);
    }
  }
  CHECK(board.total == sum);
  CHECK(board.std_error == doctest::Approx(std::sqrt(squares)));
  // The published sleeper of the challenge: -3112.2 with v1's wrapper, which it does not look at.
  CHECK(board.total == doctest::Approx(-3112.2).epsilon(0.02));
}

TEST_CASE("the audit finds out who lives on a Restore of Op_Server0, and clears who does not") {
  const Board honest = score_board(scripted({}), {.episodes = 20});
  CHECK(honest.differing == 0);
  CHECK(honest.fixed_total == honest.total);
  CHECK(!honest.exploits_restore());

  const Board cheat =
      score_board(scripted({action_index(BlueKind::restore, host::kOpServer0)}), {.episodes = 20});
  CHECK(cheat.exploits_restore());
  CHECK(cheat.differing > 60);  // the games of B_line and Meander that last long enough
  CHECK(cheat.total > honest.total + 1000);
  CHECK(cheat.fixed_total == doctest::Approx(honest.total - 9).epsilon(0.05));
}

TEST_CASE("the audit does not blame a Restore that changes nothing") {
  const Board board =
      score_board(scripted({action_index(BlueKind::restore, host::kUser1)}), {.episodes = 5});
  CHECK(board.differing == 0);
  CHECK(!board.exploits_restore());
}

}  // namespace
}  // namespace penstock::cage2
