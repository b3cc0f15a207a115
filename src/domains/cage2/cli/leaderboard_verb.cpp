#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/note.h"
#include "penstock/domains/cage2/workflow/board_summary.h"

namespace penstock::cage2 {
namespace {

struct BoardArgs {
  std::vector<std::string> dirs;
  RunChoice run;  // of each
  std::string rules = "leaderboard";
  Settings changes;  // --set
  BoardOptions options;
  bool no_audit = false;
  bool sampled = false;
  bool json = false;
};

/// A run and its board.
struct ScoredRun {
  std::string dir;
  std::uint64_t seed = 0;
  std::int64_t trained = 0;
  std::string wrapper;  // as played
};

struct Scores {
  std::vector<ScoredRun> runs;
  std::vector<Board> boards;  // of each
  std::vector<OfficialScore> official;
  BoardSummary summary;
  std::vector<AuditSummary> audit;
  std::int64_t num_games = 0;  // of all runs

  /// Runs that score more than the winner did.
  [[nodiscard]] std::size_t num_ahead() const {
    return std::ranges::count_if(
        boards, [&](const Board& board) { return board.total > official.front().total; });
  }
};

// ---- Playing

/// What --set changes: keys of the game, which the board plays by, and other keys of the run's env.
struct Changes {
  Settings of_game;
  Settings of_run;
};

Changes sort_changes(const Settings& changes) {
  Simulator::Config game;
  const std::vector<Field> fields = fields_of(game, "env.");
  Changes sorted;
  for (const Setting& change : changes.all()) {
    if (change.path == "env.red" || change.path == "env.mix" || change.path == "env.max_steps") {
      throw UsageError("--set " + change.path +
                       ": the cells of the board have it; `penstock eval RUN --set " + change.path +
                       "=...` plays another");
    }
    if (!change.path.starts_with("env.")) {
      throw UsageError("--set " + change.path + ": expected a key of the env, as env.green=true");
    }
    const bool is_rule = std::ranges::find(fields, change.path, &Field::path) != fields.end();
    (is_rule ? sorted.of_game : sorted.of_run).append(change);
  }
  return sorted;
}

void score_run(const BoardArgs& args, const std::string& dir, const Catalog& catalog,
               Scores& scores) {
  RunChoice choice = args.run;
  choice.dir = dir;
  const Changes changes = sort_changes(args.changes);
  choice.changes = changes.of_run;
  const TrainedRun run = open_run(choice, catalog, print_note);
  Simulator::Config game = board_rules(args.rules, wrapper_of(run));
  std::vector<Field> fields = fields_of(game, "env.");
  penstock::apply(fields, changes.of_game);
  scores.boards.push_back(
      score_board(trained_player(run, catalog, args.sampled), game, args.options));
  scores.runs.push_back({dir, run.plan->config().seed, run.timesteps, game.wrapper});
  scores.num_games += scores.boards.back().num_games;
}

/// Two runs of one seed are one draw, not two.
void warn_of_twins(const std::vector<ScoredRun>& runs) {
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    const auto twin = std::find_if(runs.begin(), run,
                                   [&](const ScoredRun& other) { return other.seed == run->seed; });
    if (twin != run) {
      fmt::print(
          stderr,
          "penstock: {} and {} have the training seed {}: intervals over seeds take runs for "
          "independent\n",
          twin->dir, run->dir, run->seed);
    }
  }
}

Scores score_runs(const BoardArgs& args, const Catalog& catalog) {
  Scores scores;
  for (const std::string& dir : args.dirs) { score_run(args, dir, catalog, scores); }
  // Another game than the one that the others were measured by.
  if (args.changes.all().empty()) { scores.official = official_scores(args.rules); }
  scores.summary = summarise(scores.boards);
  scores.audit = summarise_audits(scores.boards);
  warn_of_twins(scores.runs);
  return scores;
}

/// A cell's mean over the runs.
BoardCell mean_cell(const std::vector<Board>& boards, std::size_t i) {
  BoardCell cell = boards[0].cells[i];
  double mean = 0;
  double squares = 0;
  for (const Board& board : boards) {
    mean += board.cells[i].mean;
    squares += board.cells[i].std_error * board.cells[i].std_error;
  }
  const auto n = static_cast<double>(boards.size());
  cell.mean = mean / n;
  cell.std_error = std::sqrt(squares) / n;
  return cell;
}

std::string interval_text(IntervalOf what) {
  switch (what) {
    case IntervalOf::episodes:
      return "episodes only";
    case IntervalOf::mean:
      return "the mean over training seeds (Student's t)";
    default:
      return "the interquartile mean over training seeds (bootstrap)";
  }
}

// ---- Telling

OrderedJson cells_json(const std::vector<Board>& boards) {
  OrderedJson cells = OrderedJson::array();
  for (std::size_t i = 0; i < boards[0].cells.size(); ++i) {
    const BoardCell cell = mean_cell(boards, i);
    cells.push_back({{"red", cell.red},
                     {"steps", cell.steps},
                     {"mean", cell.mean},
                     {"std_error", cell.std_error}});
  }
  return cells;
}

OrderedJson runs_json(const Scores& scores) {
  OrderedJson runs = OrderedJson::array();
  for (std::size_t i = 0; i < scores.runs.size(); ++i) {
    const ScoredRun& run = scores.runs[i];
    runs.push_back({{"run_dir", run.dir},
                    {"seed", run.seed},
                    {"trained_steps", run.trained},
                    {"wrapper", run.wrapper},
                    {"total", scores.boards[i].total},
                    {"std_error", scores.boards[i].std_error},
                    {"cells", cells_json({scores.boards[i]})}});
  }
  return runs;
}

OrderedJson audit_json(const Scores& scores) {
  OrderedJson rows = OrderedJson::array();
  for (const AuditSummary& row : scores.audit) {
    rows.push_back({{"changed", "env." + row.change.key + "=" + row.change.value},
                    {"total", row.total},
                    {"owed", row.owed},
                    {"std_error", row.std_error},
                    {"least_owed", row.least},
                    {"most_owed", row.most},
                    {"differing", row.differing},
                    {"games", scores.num_games}});
  }
  return rows;
}

std::vector<std::string> assignments(const Settings& changes) {
  std::vector<std::string> texts;
  for (const Setting& change : changes.all()) { texts.push_back(change.path + "=" + change.text); }
  return texts;
}

void print_json(const BoardArgs& args, const Scores& scores) {
  OrderedJson official = OrderedJson::object();
  for (const OfficialScore& score : scores.official) { official[score.team] = score.total; }
  OrderedJson line = {{"rules", args.rules},
                      {"set", assignments(args.changes)},
                      {"episodes", args.options.episodes},
                      {"seed", args.options.seed},
                      {"sampled", args.sampled},
                      {"total", scores.summary.total},
                      {"iqm", scores.summary.iqm},
                      {"interval", {scores.summary.low, scores.summary.high}},
                      {"interval_of", interval_text(scores.summary.interval_of)},
                      {"runs", runs_json(scores)},
                      {"cells", cells_json(scores.boards)},
                      {"audit", audit_json(scores)},
                      {"official", official}};
  if (!scores.official.empty()) { line["ahead_of_winner"] = scores.num_ahead(); }
  fmt::print("{}\n", to_text(line));
}

void print_cells(const std::vector<Board>& boards) {
  fmt::print("\n{:8} {:>16} {:>16} {:>16}\n", "", "30 steps", "50 steps", "100 steps");
  for (std::size_t i = 0; i < boards[0].cells.size(); ++i) {
    const BoardCell cell = mean_cell(boards, i);
    if (i % 3 == 0) { fmt::print("{:8}", cell.red); }
    fmt::print(" {:>8.2f} ± {:<5.2f}{}", cell.mean, cell.std_error, i % 3 == 2 ? "\n" : "");
  }
}

void print_total(const Scores& scores) {
  const BoardSummary& summary = scores.summary;
  fmt::print(
      "\ntotal {:.2f}, interquartile mean {:.2f} of {} run{}; 95 % interval {:.2f} to {:.2f}, "
      "of {}\n",
      summary.total, summary.iqm, scores.runs.size(), scores.runs.size() == 1 ? "" : "s",
      summary.low, summary.high, interval_text(summary.interval_of));
  if (scores.official.empty()) {
    fmt::print("no score of another team is known by these rules\n");
    return;
  }
  fmt::print("{} of {} above", scores.num_ahead(), scores.runs.size());
  for (const OfficialScore& score : scores.official) {
    fmt::print("{} {} {:.2f}", &score == scores.official.data() ? "" : "; then", score.team,
               score.total);
  }
  fmt::print(", by the same rules\n");
}

/// Nothing owed is 0.00, whatever its sign.
double hundredths(double value) { return std::round(value * 100) / 100 + 0.0; }

std::string owed_text(const AuditSummary& row, std::size_t num_runs) {
  const std::string mean = fmt::format("{:.2f} ± {:.2f}", hundredths(row.owed), row.std_error);
  return num_runs == 1 ? mean
                       : fmt::format("{}, {:.2f} to {:.2f}", mean, hundredths(row.least),
                                     hundredths(row.most));
}

void print_audit(const Scores& scores) {
  if (scores.audit.empty()) { return; }
  fmt::print(
      "\naudit: the same games again with one key changed. A change makes another game, harder or "
      "easier for\neverybody; what the score owes to the rule as it is counts both. Only these "
      "keys "
      "were checked.\n\n{:30} {:>8}  {:>19}  {}\n",
      "changed", "total", "games that differ",
      scores.runs.size() == 1 ? "owed" : "owed, least and most of a run");
  for (const AuditSummary& row : scores.audit) {
    fmt::print("{:30} {:>8.2f}  {:>19}  {}\n",
               fmt::format("env.{}={}", row.change.key, row.change.value), row.total,
               fmt::format("{} of {}", row.differing, scores.num_games),
               owed_text(row, scores.runs.size()));
  }
}

void print_text(const BoardArgs& args, const Scores& scores) {
  const std::vector<std::string> set = assignments(args.changes);
  fmt::print("rules {}{}{}; {}, {} episodes a cell, seed {}\n\n", args.rules,
             set.empty() ? "" : ", changed: ", fmt::join(set, " "),
             args.sampled ? "sampled" : "greedy", args.options.episodes, args.options.seed);
  for (std::size_t i = 0; i < scores.runs.size(); ++i) {
    const ScoredRun& run = scores.runs[i];
    fmt::print("{}, seed {}, after {} steps, wrapper {}: {:.2f} ± {:.2f}\n", run.dir, run.seed,
               run.trained, run.wrapper, scores.boards[i].total, scores.boards[i].std_error);
  }
  print_cells(scores.boards);
  print_total(scores);
  print_audit(scores);
}

Exit leaderboard(BoardArgs& args, const Catalog& catalog) {
  args.options.audit = !args.no_audit;
  const Scores scores = score_runs(args, catalog);
  if (args.json) {
    print_json(args, scores);
  } else {
    print_text(args, scores);
  }
  return Exit::ok;
}

}  // namespace

Verb leaderboard_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<BoardArgs>();
  Options& verb = app.add_command(
      "leaderboard",
      "score trained policies as the challenge did, and audit what they owe to which rule");
  verb.add_repeated("run_dir", args->dirs,
                    "the run directories; several training seeds give an interval over seeds")
      .required();
  verb.add("--rules", args->rules, "rules of the game: leaderboard, head or dbg (CybORG++)")
      .show_default();
  verb.add_repeated_call(
      "--set", [args](const std::string& text) { args->changes.add_assignment(text, "--set"); },
      "change any key of the env: --set env.green=true (may be repeated)");
  verb.add("--episodes", args->options.episodes, "episodes of each of the nine cells")
      .within(1, 1'000'000)
      .show_default();
  verb.add("--seed", args->options.seed, "seed of the episodes (default 0)");
  verb.add("--checkpoint", args->run.checkpoint, "checkpoint to play: latest, best or a step")
      .show_default();
  verb.add_flag("--sampled", args->sampled, "sample actions instead of taking the most likely one");
  verb.add_flag("--no-audit", args->no_audit, "leave the audit out, which plays 14 times as much");
  verb.add_call(
      "--threads",
      [args](const std::string& text) { args->run.changes.add("threads", text, "--threads"); },
      "threads; never changes results");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return leaderboard(*args, catalog); }};
}

}  // namespace penstock::cage2
