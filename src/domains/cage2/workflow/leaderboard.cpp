#include "penstock/domains/cage2/workflow/leaderboard.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/train/engine.h"

namespace penstock::cage2 {
namespace {

constexpr std::array<const char*, 3> kReds = {"bline", "meander", "sleep"};
constexpr std::array<int, 3> kLengths = {30, 50, 100};

// ---- The board

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

double std_error_of(const std::vector<double>& values) {
  if (values.size() < 2) { return 0; }
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  const double n = values.size();
  return std::sqrt(squares / (n - 1) / n);
}

BoardCell score_cell(const PlayGames& play, BoardGames games) {
  const std::vector<double> returns = play(games);
  games.fix_restore_ot = true;
  const std::vector<double> fixed = play(games);
  BoardCell cell{games.red, games.steps, mean_of(returns), std_error_of(returns), mean_of(fixed)};
  for (std::size_t i = 0; i < returns.size(); ++i) {
    cell.differing += returns[i] != fixed[i] ? 1 : 0;
  }
  return cell;
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
    envs_.reset(range_, {obs_, {}});
    for (int t = 0; t < games.steps; ++t) {
      const std::uint64_t step = t;
      choose(sampled, {.seed = games.seed, .first_env = first, .step = step});
      envs_.step(range_, {.choices = choices_}, {obs_, {}},
                 {.reward = reward_,
                  .terminated = {terminated_.get(), range_.size()},
                  .truncated = {truncated_.get(), range_.size()},
                  .final_obs = final_obs_,
                  .episode = ends_});
    }
    return ends_;
  }

 private:
  void choose(bool sampled, const ActionNoise& noise) {
    actor_.act({.count = range_.size(), .obs = obs_}, {.choices = choices_},
               sampled ? &noise : nullptr);
  }

  Actor& actor_;
  VecEnv& envs_;
  EnvRange range_;
  std::vector<float> obs_;  // [n, F]
  std::vector<float> final_obs_;
  std::vector<std::int64_t> choices_;
  std::vector<float> reward_;
  std::unique_ptr<bool[]>
      terminated_;                     // NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
  std::unique_ptr<bool[]> truncated_;  // NOLINT(modernize-avoid-c-arrays)
  std::vector<EpisodeEnd> ends_;
};

/// The env of the run with what the board prescribes. How Blue is shown events stays the run's.
Settings board_settings(const TrainedRun& run, const BoardGames& games) {
  Settings settings = run.settings;
  const auto set = [&](const char* key, const std::string& value) {
    settings.add(key, value, "the leader board");
  };
  set("env.red", games.red);
  set("env.max_steps", std::to_string(games.steps));
  set("env.rules", "leaderboard");
  for (const char* key : {"env.green", "env.fix_vsftpd", "env.fix_smb", "env.fix_mysql",
                          "env.fix_remove_flag", "env.fix_ssh_pid", "env.reward_user_sessions"}) {
    set(key, "false");
  }
  set("env.fix_restore_ot", games.fix_restore_ot ? "true" : "false");
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

Board score_board(const PlayGames& play, const BoardOptions& options) {
  Board board;
  double squares = 0;
  for (const char* red : kReds) {
    for (const int steps : kLengths) {
      const std::uint32_t number = board.cells.size();
      const RandomKey key{.seed = options.seed, .owner = number, .stream = Stream::evaluate};
      const BoardCell cell = score_cell(play, {red, steps, options.episodes, Random(key).next64()});
      board.total += cell.mean;
      board.fixed_total += cell.fixed_mean;
      board.num_games += options.episodes;
      board.differing += cell.differing;
      squares += cell.std_error * cell.std_error;
      board.cells.push_back(cell);
    }
  }
  board.std_error = std::sqrt(squares);
  return board;
}

PlayGames trained_player(const TrainedRun& run, const Catalog& catalog, bool sampled) {
  const std::string& env = run.plan->config().env.id;
  if (!env.starts_with("cage2")) {
    throw UsageError("the run's env is " + env +
                     ": the leader board is for cage2, cage2_defender and cage2_workflow");
  }
  return [&run, &catalog, sampled](const BoardGames& games) {
    const RunPlan plan(board_settings(run, games), catalog);
    return play_all(run, plan, games, sampled);
  };
}

}  // namespace penstock::cage2
