#include "penstock/domains/cage2/workflow/leaderboard.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <variant>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"
#include "penstock/core/train/engine.h"
#include "penstock/domains/cage2/sim/replay.h"

namespace penstock::cage2 {
namespace {

// ---- The board

/// One change of the rules and its games' returns, cell by cell.
void add_cell(AuditRow& row, const std::vector<double>& as_is, const std::vector<double>& changed) {
  std::vector<double> owed(as_is.size());
  for (std::size_t i = 0; i < as_is.size(); ++i) {
    owed[i] = as_is[i] - changed[i];
    row.differing += owed[i] != 0 ? 1 : 0;
  }
  const Estimate difference = estimate(owed);
  row.total += estimate(changed).mean;
  row.owed += difference.mean;
  row.std_error = std::hypot(row.std_error, difference.std_error);
}

Simulator::Config changed_game(Simulator::Config game, const RuleChange& change) {
  Settings settings;
  settings.add(change.key, change.value, "the audit");
  std::vector<Field> fields = fields_of(game);
  penstock::apply(fields, settings);
  return game;
}

void score_cell(const PlayGames& play, BoardGames games, Board& board) {
  const std::vector<double> returns = play(games);
  const Simulator::Config game = games.game;
  const Estimate score = estimate(returns);
  board.cells.push_back({game.red, static_cast<int>(game.max_steps), score.mean, score.std_error});
  for (AuditRow& row : board.audit) {
    games.game = changed_game(game, row.change);
    add_cell(row, returns, play(games));
  }
}

// ---- A policy that plays many games at once

/// Games that share the policy's passes, from the first to the last step. All have the same length.
class Group {
 public:
  /// Plays on the envs of the range.
  Group(Actor& actor, VecEnv& envs, EnvRange range)
      : actor_(actor),
        envs_(envs),
        range_(range),
        obs_(range.size() * envs.spec().obs.size()),
        final_obs_(obs_.size()),
        num_legal_(envs.spec().action.masked() ? range.size() * envs.spec().action.num_actions()
                                               : 0),
        legal_(std::make_unique<bool[]>(num_legal_)),
        choices_(range.size()),
        reward_(range.size()),
        terminated_(std::make_unique<bool[]>(range.size())),
        truncated_(std::make_unique<bool[]>(range.size())),
        ends_(range.size()) {}

  /// `first` is the number of the group's first game among all.
  const std::vector<EpisodeEnd>& play(const BoardGames& games, std::size_t first, bool sampled) {
    for (std::size_t i = 0; i < range_.size(); ++i) {
      constexpr unsigned kBits = 33;  // leaves 31, as in every evaluation
      const std::uint32_t number = first + i;
      envs_.seed(range_.begin + i, episode_seed(games.seed, number, 0) >> kBits);
    }
    envs_.reset(range_, rows());
    for (std::int64_t t = 0; t < games.game.max_steps; ++t) {
      const std::uint64_t step = t;
      choose(sampled, {.seed = games.seed, .first_env = first, .step = step});
      envs_.step(range_, {.choices = choices_}, rows(),
                 {.reward = reward_,
                  .terminated = {terminated_.get(), range_.size()},
                  .truncated = {truncated_.get(), range_.size()},
                  .final_obs = final_obs_,
                  .episode = ends_});
    }
    return ends_;
  }

 private:
  [[nodiscard]] ObsRows rows() { return {obs_, {legal_.get(), num_legal_}}; }

  void choose(bool sampled, const ActionNoise& noise) {
    actor_.act({.count = range_.size(), .obs = obs_, .legal = rows().legal}, {.choices = choices_},
               sampled ? &noise : nullptr);
  }

  Actor& actor_;
  VecEnv& envs_;
  EnvRange range_;
  std::vector<float> obs_;  // [n, F]
  std::vector<float> final_obs_;
  std::size_t num_legal_;          // 0: nothing is masked
  std::unique_ptr<bool[]> legal_;  // [n, A]  NOLINT(modernize-avoid-c-arrays)
  std::vector<std::int64_t> choices_;
  std::vector<float> reward_;
  std::unique_ptr<bool[]>
      terminated_;                     // NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
  std::unique_ptr<bool[]> truncated_;  // NOLINT(modernize-avoid-c-arrays)
  std::vector<EpisodeEnd> ends_;
};

/// The env of the run with every key of the game as the board has it.
Settings board_settings(const TrainedRun& run, Simulator::Config game) {
  Settings settings = run.settings;
  for (const Field& field : fields_of(game, "env.")) {
    const auto* const* word = std::get_if<std::string*>(&field.target);
    settings.add(field.path, word != nullptr ? **word : value_text(field), "the leader board");
  }
  return settings;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) - names.begin();
}

std::vector<double> play_all(const TrainedRun& run, const RunPlan& plan, const BoardGames& games,
                             bool sampled) {
  constexpr std::size_t kGroup = 125;
  const std::size_t episodes = games.episodes;
  const std::size_t num_groups = (episodes + kGroup - 1) / kGroup;
  ThreadPool pool({.num_threads = threads_of(plan), .on_start = use_one_torch_thread});
  const std::size_t workers = std::min(pool.size(), num_groups);
  std::vector<std::unique_ptr<Actor>> actors;
  for (std::size_t i = 0; i < workers; ++i) { actors.push_back(make_actor(run.player.model)); }
  const std::unique_ptr<VecEnv> envs = plan.env().make(workers * kGroup, games.seed);
  const std::size_t stat = place_of(envs->spec().stats, "game_return");
  const bool told = stat < envs->spec().stats.size();
  std::vector<double> returns(episodes);
  pool.run(workers, [&](std::size_t worker) {
    for (std::size_t g = worker; g < num_groups; g += workers) {
      const std::size_t first = g * kGroup;
      const std::size_t size = std::min(kGroup, episodes - first);
      Group group(*actors[worker], *envs, {worker * kGroup, worker * kGroup + size});
      const std::vector<EpisodeEnd>& ends = group.play(games, first, sampled);
      for (std::size_t i = 0; i < size; ++i) {
        returns[first + i] = told ? ends[i].stats[stat] : ends[i].total_reward;
      }
    }
  });
  return returns;
}

}  // namespace

std::vector<RuleChange> rule_changes(const Simulator::Config& game) {
  Simulator::Config copy = game;
  std::vector<RuleChange> changes;
  for (const Field& field : fields_of(copy)) {
    if (field.path == "red") { continue; }  // a cell's, not the rules'
    if (const auto* const* flag = std::get_if<bool*>(&field.target)) {
      changes.push_back({field.path, **flag ? "false" : "true"});
    }
    for (const std::string& word : field.choices) {
      if (word != *std::get<std::string*>(field.target)) { changes.push_back({field.path, word}); }
    }
  }
  return changes;
}

Board score_board(const PlayGames& play, const Simulator::Config& game,
                  const BoardOptions& options) {
  Board board;
  if (options.audit) {
    for (const RuleChange& change : rule_changes(game)) { board.audit.push_back({change}); }
  }
  for (const char* red : kBoardReds) {
    for (const int steps : kBoardLengths) {
      const std::uint32_t number = board.cells.size();
      const RandomKey key{.seed = options.seed, .owner = number, .stream = Stream::evaluate};
      BoardGames games{game, options.episodes, Random(key).next64()};
      games.game.red = red;
      games.game.max_steps = steps;
      score_cell(play, std::move(games), board);
      board.total += board.cells.back().mean;
      board.std_error = std::hypot(board.std_error, board.cells.back().std_error);
      board.num_games += options.episodes;
    }
  }
  return board;
}

Simulator::Config board_rules(const std::string& name, const std::string& wrapper) {
  const Source source = source_of(name);
  Simulator::Config game = config_of(source);
  if (source != Source::dbg) { game.wrapper = wrapper; }
  return game;
}

std::string wrapper_of(const TrainedRun& run) {
  const std::string& env = run.plan->config().env.id;
  if (!env.starts_with("cage2")) {
    throw UsageError("the run's env is " + env +
                     ": the leader board is for cage2, cage2_defender and cage2_workflow");
  }
  const auto field = std::ranges::find(run.plan->fields(), "env.wrapper", &Field::path);
  return *std::get<std::string*>(field->target);
}

PlayGames trained_player(const TrainedRun& run, const Catalog& catalog, bool sampled) {
  return [&run, &catalog, sampled](const BoardGames& games) {
    const RunPlan plan(board_settings(run, games.game), catalog);
    return play_all(run, plan, games, sampled);
  };
}

std::vector<OfficialScore> official_scores(const std::string& rules) {
  if (rules == "leaderboard") { return {{"CardiffUni", -54.57}, {"Keeping-it-RL", -56.90}}; }
  if (rules == "head") { return {{"CardiffUni", -86.03}}; }
  return {};
}

}  // namespace penstock::cage2
