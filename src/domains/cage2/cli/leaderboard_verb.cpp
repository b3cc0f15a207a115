#include <fmt/format.h>

#include <memory>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/workflow/leaderboard.h"

namespace penstock::cage2 {
namespace {

struct BoardArgs {
  RunChoice run;
  BoardOptions options;
  bool sampled = false;
  bool json = false;
};

OrderedJson cells_json(const Board& board) {
  OrderedJson cells = OrderedJson::array();
  for (const BoardCell& cell : board.cells) {
    cells.push_back({{"red", cell.red},
                     {"steps", cell.steps},
                     {"mean", cell.mean},
                     {"std_error", cell.std_error},
                     {"fixed_mean", cell.fixed_mean},
                     {"differing", cell.differing}});
  }
  return cells;
}

void print_json(const BoardArgs& args, std::int64_t trained, const Board& board) {
  const OrderedJson line = {
      {"rules", "leaderboard"},
      {"trained_steps", trained},
      {"episodes", args.options.episodes},
      {"seed", args.options.seed},
      {"sampled", args.sampled},
      {"cells", cells_json(board)},
      {"total", board.total},
      {"std_error", board.std_error},
      {"audit",
       {{"games", board.num_games},
        {"differing", board.differing},
        {"fixed_total", board.fixed_total},
        {"exploits_restore", board.exploits_restore()}}},
      {"official", {{kWinner.team, kWinner.total}, {kSecond.team, kSecond.total}}}};
  fmt::print("{}\n", to_text(line));
}

void print_audit(const Board& board) {
  fmt::print(
      "audit: {} of {} games end differently when Restore of Op_Server0 does not disarm Impact "
      "(fix_restore_ot), total {:.2f}: {}\n",
      board.differing, board.num_games, board.fixed_total,
      board.exploits_restore() ? "THE SCORE LIVES ON THIS ERROR OF THE GAME"
                               : "the score does not live on this error of the game");
}

void print_text(const BoardArgs& args, std::int64_t trained, const Board& board) {
  fmt::print("rules leaderboard; {} after {} steps, {}, {} episodes a cell, seed {}\n\n",
             args.run.dir, trained, args.sampled ? "sampled" : "greedy", args.options.episodes,
             args.options.seed);
  fmt::print("{:8} {:>16} {:>16} {:>16}\n", "", "30 steps", "50 steps", "100 steps");
  for (std::size_t i = 0; i < board.cells.size(); ++i) {
    const BoardCell& cell = board.cells[i];
    if (i % 3 == 0) { fmt::print("{:8}", cell.red); }
    fmt::print(" {:>8.2f} ± {:<5.2f}{}", cell.mean, cell.std_error, i % 3 == 2 ? "\n" : "");
  }
  fmt::print("\ntotal {:.2f} ± {:.2f}; official: {} {:.2f}, {} {:.2f}\n", board.total,
             board.std_error, kWinner.team, kWinner.total, kSecond.team, kSecond.total);
  print_audit(board);
}

Exit leaderboard(const BoardArgs& args, const Catalog& catalog) {
  const TrainedRun run = open_run(args.run, catalog, [](const std::string& text) {
    fmt::print(stderr, "penstock: {}\n", text);
  });
  const Board board = score_board(trained_player(run, catalog, args.sampled), args.options);
  if (args.json) {
    print_json(args, run.timesteps, board);
  } else {
    print_text(args, run.timesteps, board);
  }
  return Exit::ok;
}

}  // namespace

Verb leaderboard_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<BoardArgs>();
  Options& verb = app.add_command(
      "leaderboard", "score a trained policy as the challenge did, and audit the score");
  verb.add("run_dir", args->run.dir, "the run directory").required();
  verb.add("--episodes", args->options.episodes, "episodes of each of the nine cells")
      .within(1, 1'000'000)
      .show_default();
  verb.add("--seed", args->options.seed, "seed of the episodes (default 0)");
  verb.add("--checkpoint", args->run.checkpoint, "checkpoint to play: latest, best or a step")
      .show_default();
  verb.add_flag("--sampled", args->sampled, "sample actions instead of taking the most likely one");
  verb.add_call(
      "--threads",
      [args](const std::string& text) { args->run.changes.add("threads", text, "--threads"); },
      "threads; never changes results");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return leaderboard(*args, catalog); }};
}

}  // namespace penstock::cage2
