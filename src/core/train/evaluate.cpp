#include "penstock/core/train/evaluate.h"

#include <cmath>
#include <memory>

#include "penstock/core/base/random.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock {
namespace {

/// One env, its row and the memory of one step.
class Episode {
 public:
  /// Plays on env `worker`; the episode's number is its place in the randomness.
  Episode(Actor& actor, VecEnv& envs, std::size_t worker, std::size_t number)
      : actor_(actor),
        envs_(envs),
        range_{worker, worker + 1},
        number_(number),
        obs_(envs.spec().obs.size()),
        legal_(std::make_unique<bool[]>(envs.spec().action.num_actions())),
        final_obs_(envs.spec().obs.size()),
        choices_(envs.spec().action.continuous() ? 0 : envs.spec().action.dims()),
        points_(envs.spec().action.continuous() ? envs.spec().action.dims() : 0) {}

  EpisodeEnd play(const EvalOptions& options) {
    for (;;) {
      envs_.reset(range_, rows());
      std::uint64_t step = 0;
      do { choose(options, step++); } while (!this->step());
      if (!ended_.discarded) { return ended_; }
    }
  }

 private:
  ObsRows rows() {
    const ActionSpec& action = envs_.spec().action;
    return {obs_,
            action.masked() ? std::span(legal_.get(), action.num_actions()) : std::span<bool>()};
  }

  void choose(const EvalOptions& options, std::uint64_t step) {
    const ActionNoise noise{.seed = options.seed, .first_env = number_, .step = step};
    actor_.act({.count = 1, .obs = obs_, .legal = rows().legal},
               {.choices = choices_, .env_points = points_},
               options.deterministic ? nullptr : &noise);
  }

  bool step() {
    float reward = 0;
    bool terminated = false;
    bool truncated = false;
    envs_.step(range_, {.choices = choices_, .points = points_}, rows(),
               {.reward = {&reward, 1},
                .terminated = {&terminated, 1},
                .truncated = {&truncated, 1},
                .final_obs = final_obs_,
                .episode = {&ended_, 1}});
    return terminated || truncated;
  }

  Actor& actor_;
  VecEnv& envs_;
  EnvRange range_;
  std::size_t number_;
  std::vector<float> obs_;  // [F]
  std::unique_ptr<bool[]>
      legal_;  // [A]  NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
  std::vector<float> final_obs_;
  std::vector<std::int64_t> choices_;
  std::vector<float> points_;  // as the env wants them
  EpisodeEnd ended_;
};

EvalResult summarise(const std::vector<EpisodeEnd>& ends) {
  EvalResult result;
  Moments rewards;
  Moments lengths;
  Moments successes;
  for (const EpisodeEnd& end : ends) {
    rewards.add(end.total_reward);
    lengths.add(end.length);
    if (end.success != Success::unknown) { successes.add(end.success == Success::yes ? 1 : 0); }
  }
  constexpr double kNormal95 = 1.959964;
  const double n = ends.size();
  result.episodes = ends.size();
  result.mean_reward = rewards.mean;
  result.std_reward = n > 1 ? std::sqrt(rewards.m2 / (n - 1)) : 0;
  const double half = kNormal95 * result.std_reward / std::sqrt(n);
  result.ci95_low = rewards.mean - half;
  result.ci95_high = rewards.mean + half;
  result.mean_ep_length = lengths.mean;
  result.success_rate = successes.count > 0 ? successes.mean : std::nan("");
  return result;
}

}  // namespace

std::vector<EpisodeEnd> play_episodes(const Player& player, const EnvFactory& env, ThreadPool& pool,
                                      const EvalOptions& options) {
  const std::size_t episodes = options.episodes;
  const RandomKey key{.seed = options.seed, .stream = Stream::evaluate};
  const std::uint64_t base = Random(key).next64();
  std::vector<EpisodeEnd> ends(episodes);
  const std::size_t workers = std::min(pool.size(), episodes);
  const std::unique_ptr<VecEnv> envs = env.make(workers, base);
  std::vector<std::unique_ptr<Actor>> actors;
  for (std::size_t i = 0; i < workers; ++i) { actors.push_back(make_actor(player.model)); }
  load_shared(*envs, player.shared);
  if (SharedLearner* shared = envs->shared()) { shared->begin_evaluation(); }
  pool.run(workers, [&](std::size_t worker) {
    for (std::size_t i = worker; i < episodes; i += workers) {
      constexpr unsigned kBits = 33;  // leaves 31: a seed that any env takes
      envs->seed(worker, episode_seed(base, i, 0) >> kBits);
      ends[i] = Episode(*actors[worker], *envs, worker, i).play(options);
    }
  });
  return ends;
}

EvalResult evaluate(const Player& player, const EnvFactory& env, ThreadPool& pool,
                    const EvalOptions& options) {
  return summarise(play_episodes(player, env, pool, options));
}

}  // namespace penstock
