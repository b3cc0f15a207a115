#include "penstock/domains/cage2/workflow/leaderboard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "penstock/domains/cage2/workflow/board_summary.h"

namespace penstock::cage2 {
namespace {

using Script = std::vector<std::int64_t>;

/// Plays a script of actions, then sleeps.
PlayGames scripted(Script script) {
  return [script = std::move(script)](const BoardGames& games) {
    Simulator simulator(games.game);
    std::vector<double> returns;
    for (std::int64_t i = 0; i < games.episodes; ++i) {
      std::array<float, kObsSize> row{};
      simulator.reset(games.seed + static_cast<std::uint64_t>(i), {row, {}});
      int cost = 0;
      for (std::size_t t = 0; t < static_cast<std::size_t>(games.game.max_steps); ++t) {
        cost += simulator.advance(t < script.size() ? script[t] : 0).cost_tenths;
      }
      returns.push_back(-cost / 10.0);
    }
    return returns;
  };
}

Board board_of(const Script& script, std::int64_t episodes, const std::string& rules) {
  return score_board(scripted(script), board_rules(rules, "v2"), {.episodes = episodes});
}

const AuditRow& row_of(const Board& board, const std::string& key) {
  const auto row =
      std::ranges::find(board.audit, key, [](const AuditRow& r) { return r.change.key; });
  REQUIRE(row != board.audit.end());
  return *row;
}

std::set<std::string> keys_that_matter(const Board& board) {
  std::set<std::string> keys;
  for (const AuditRow& row : board.audit) {
    if (row.differing > 0) { keys.insert(row.change.key); }
  }
  return keys;
}

TEST_CASE("the board has nine cells of games of their own, and the total is their sum") {
  std::set<std::uint64_t> seeds;
  const PlayGames sleeper = scripted({});
  const Board board = score_board(
      [&](const BoardGames& games) {
        CHECK(games.episodes == 40);
        CHECK(games.game.rules == "leaderboard");
        seeds.insert(games.seed);
        return sleeper(games);
      },
      board_rules("leaderboard", "v1"), {.episodes = 40, .seed = 3, .audit = false});
  REQUIRE(board.cells.size() == 9);
  CHECK(board.audit.empty());
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

TEST_CASE("the audit changes every key of the rules, one at a time") {
  std::set<std::string> changes;
  for (const auto& [key, value] : rule_changes(board_rules("leaderboard", "v2"))) {
    changes.insert(key + "=" + value);
  }
  const std::set<std::string> expected = {"rules=head",
                                          "wrapper=v1",
                                          "wrapper=dbg",
                                          "green=true",
                                          "fix_vsftpd=true",
                                          "fix_smb=true",
                                          "fix_mysql=true",
                                          "fix_ssh_pid=true",
                                          "fix_remove_flag=true",
                                          "fix_restore_ot=true",
                                          "fix_ghost_ports=true",
                                          "fix_restored_mail=true",
                                          "reward_user_sessions=true"};
  CHECK(changes == expected);

  std::set<std::string> back;
  for (const auto& [key, value] : rule_changes(board_rules("dbg", "v2"))) {
    back.insert(key + "=" + value);
  }
  CHECK(back.contains("fix_smb=false"));
  CHECK(back.contains("wrapper=v2"));
  CHECK(back.contains("rules=leaderboard"));
}

TEST_CASE("whoever sleeps owes nothing to what happens to Blue's actions") {
  const Board board = board_of({}, 20, "leaderboard");
  for (const char* key : {"rules", "wrapper", "fix_ghost_ports", "fix_restored_mail", "fix_vsftpd",
                          "fix_ssh_pid", "fix_remove_flag", "fix_restore_ot"}) {
    CAPTURE(key);
    const AuditRow& row = row_of(board, key);
    CHECK(row.differing == 0);
    CHECK(row.owed == 0);
    CHECK(row.std_error == 0);
    CHECK(row.total == doctest::Approx(board.total));
  }
  const AuditRow& sessions = row_of(board, "reward_user_sessions");
  CHECK(sessions.owed > 0);
  CHECK(sessions.total == doctest::Approx(board.total - sessions.owed));
}

TEST_CASE("the audit finds out who lives on a Restore of Op_Server0") {
  const Board honest = board_of({}, 20, "leaderboard");
  const Board cheat =
      board_of({action_index(BlueKind::restore, host::kOpServer0)}, 20, "leaderboard");
  const AuditRow& row = row_of(cheat, "fix_restore_ot");
  CHECK(row.differing > 60);  // the games of B_line and Meander that last long enough
  CHECK(row.owed > 1000);
  CHECK(row.std_error > 0);
  CHECK(cheat.total > honest.total + 1000);
  CHECK(row.total == doctest::Approx(honest.total - 9).epsilon(0.05));
  CHECK(row_of(cheat, "rules").differing == 0);
}

TEST_CASE("the audit does not blame a Restore that changes nothing") {
  const Board board = board_of({action_index(BlueKind::restore, host::kUser1)}, 5, "leaderboard");
  CHECK(row_of(board, "fix_restore_ot").differing == 0);
}

TEST_CASE("the audit tells the two errors of the leader board's day apart") {
  // Before red comes, both mail servers are restored and so cannot be exploited by their best hole.
  const Script mail = {action_index(BlueKind::restore, host::kUser3),
                       action_index(BlueKind::restore, host::kUser4)};
  const Board of_mail = board_of(mail, 40, "leaderboard");
  CHECK(keys_that_matter(of_mail).contains("fix_restored_mail"));
  CHECK(row_of(of_mail, "rules").differing == row_of(of_mail, "fix_restored_mail").differing);
  CHECK(row_of(of_mail, "rules").owed == row_of(of_mail, "fix_restored_mail").owed);
  CHECK(row_of(of_mail, "fix_ghost_ports").differing == 0);

  // By head's rules there is nothing of them to change but the rules.
  const Board by_head = board_of(mail, 40, "head");
  CHECK(row_of(by_head, "fix_restored_mail").differing == 0);
  CHECK(row_of(by_head, "rules").differing > 0);
  CHECK(by_head.total == doctest::Approx(row_of(of_mail, "rules").total));
}

TEST_CASE("ghosts of decoys keep red busy on the leader board's day") {
  // All of Enterprise0's decoys each time before B_line scans it, then a Restore.
  Script script;
  for (int i = 0; i < 20; ++i) {
    for (const Decoy decoy : {Decoy::haraka, Decoy::tomcat, Decoy::apache}) {
      script.push_back(decoy_index(decoy, host::kEnterprise0));
      script.push_back(decoy_index(Decoy::femitter, host::kEnterprise1));
    }
    script.push_back(action_index(BlueKind::restore, host::kEnterprise0));
    script.push_back(action_index(BlueKind::restore, host::kEnterprise1));
  }
  const Board board = board_of(script, 40, "leaderboard");
  const AuditRow& row = row_of(board, "fix_ghost_ports");
  CHECK(row.differing > 0);
  CHECK(row.owed > 0);
  CHECK(row_of(board, "fix_restored_mail").differing == 0);
}

TEST_CASE("rules have names, and a policy keeps the wrapper that it was trained with") {
  CHECK(board_rules("head", "v1").wrapper == "v1");
  CHECK(board_rules("leaderboard", "v2").wrapper == "v2");
  CHECK(board_rules("leaderboard", "v2").rules == "leaderboard");
  const Simulator::Config dbg = board_rules("dbg", "v2");
  CHECK(dbg.wrapper == "dbg");
  CHECK((dbg.fix_smb && dbg.reward_user_sessions && dbg.rules == "head"));
  CHECK_THROWS_AS(board_rules("lb", "v2"), UsageError);
}

TEST_CASE("scores of others are told only by the rules that they were measured by") {
  CHECK(official_scores("leaderboard").front().total == -54.57);
  // The six cells of the winner's own measurement; those of the sleeping red are 0.
  CHECK(official_scores("head").front().total ==
        doctest::Approx(-5.35 - 12.96 - 36.89 - 5.54 - 8.82 - 16.47));
  CHECK(official_scores("dbg").empty());
}

std::vector<Board> boards_of(const std::vector<double>& totals) {
  std::vector<Board> boards;
  for (const double total : totals) { boards.push_back({.total = total, .std_error = 0.25}); }
  return boards;
}

// Expected values: numpy and scipy.stats (trim_mean, t.interval).
TEST_CASE("one run has an interval of episodes only") {
  const BoardSummary summary = summarise(boards_of({-48.73}));
  CHECK(summary.interval_of == IntervalOf::episodes);
  CHECK(summary.total == -48.73);
  CHECK(summary.iqm == -48.73);
  CHECK(summary.low == doctest::Approx(-48.73 - 0.489991));
  CHECK(summary.high == doctest::Approx(-48.73 + 0.489991));
}

TEST_CASE("a few runs have Student's interval over seeds") {
  const BoardSummary summary = summarise(boards_of({-52.16, -47.03, -48.85}));
  CHECK(summary.interval_of == IntervalOf::mean);
  CHECK(summary.total == doctest::Approx(-49.346667));
  CHECK(summary.iqm == doctest::Approx(-49.346667));
  CHECK(summary.low == doctest::Approx(-55.807447));
  CHECK(summary.high == doctest::Approx(-42.885887));
}

TEST_CASE("the interquartile mean leaves the outer quarters out") {
  CHECK(interquartile_mean({3}) == 3);
  CHECK(interquartile_mean({9, 1, 2}) == 4);
  CHECK(interquartile_mean({100, 1, 2, -100}) == 1.5);
  const std::vector<double> totals = {-52.16, -47.03, -48.85, -131.7, -48.73, -51.73, -50.1, -49.2};
  const BoardSummary summary = summarise(boards_of(totals));
  CHECK(summary.iqm == doctest::Approx(-49.97));
  CHECK(summary.total == doctest::Approx(-59.9375));
  CHECK(summary.interval_of == IntervalOf::mean);
}

TEST_CASE("many runs have a bootstrap interval of the interquartile mean, always the same") {
  const std::vector<Board> boards = boards_of(
      {-52.16, -47.03, -48.85, -131.7, -48.73, -51.73, -50.1, -49.2, -47.9, -55.3, -46.6, -50.9});
  const BoardSummary summary = summarise(boards);
  CHECK(summary.interval_of == IntervalOf::iqm);
  CHECK(summary.iqm == doctest::Approx(-49.918333));
  // numpy, 400,000 draws; of 10,000 the ends vary by up to 0.2.
  CHECK(std::abs(summary.low + 52.445) < 0.3);
  CHECK(std::abs(summary.high + 48.335) < 0.3);
  CHECK(summarise(boards).low == summary.low);
}

TEST_CASE("audits of several runs are told as their mean and their extremes") {
  std::vector<Board> boards = boards_of({-50, -48});
  boards[0].audit = {{{"rules", "head"}, -90, 40, 3, 100}};
  boards[1].audit = {{{"rules", "head"}, -80, 32, 4, 50}};
  const std::vector<AuditSummary> rows = summarise_audits(boards);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].change.key == "rules");
  CHECK(rows[0].total == -85);
  CHECK(rows[0].owed == 36);
  CHECK(rows[0].std_error == doctest::Approx(2.5));  // half of that of 3 and 4 added
  CHECK(rows[0].least == 32);
  CHECK(rows[0].most == 40);
  CHECK(rows[0].differing == 150);
}

}  // namespace
}  // namespace penstock::cage2
