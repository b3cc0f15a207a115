#include "penstock/core/train/evaluate.h"

#include <cmath>
#include <memory>

#include "penstock/core/base/random.h"
#include "penstock/core/base/thread_pool.h"

namespace penstock {
namespace {

bool is_set(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

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

  /// Whether it was played to an end: not where it was stopped.
  bool play(const EvalOptions& options) {
    do {
      envs_.reset(range_, rows());
      const auto most = static_cast<std::uint64_t>(options.max_steps);
      std::uint64_t step = 0;
      double reward = 0;
      do {
        if (is_set(options.stop)) { return false; }
        if (most > 0 && step == most) {
          cut_off(reward, step);
          return true;
        }
        choose(options, step++);
      } while (!this->step(reward));
    } while (ended_.discarded);
    return true;
  }
  [[nodiscard]] const EpisodeEnd& end() const { return ended_; }

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

  /// What is known of an episode that has not ended; the env's own statistics are not.
  void cut_off(double total_reward, std::uint64_t length) {
    ended_ = {total_reward, static_cast<std::int64_t>(length), Success::unknown};
    ended_.stats.fill(std::nan(""));
  }

  bool step(double& total_reward) {
    float reward = 0;
    bool terminated = false;
    bool truncated = false;
    envs_.step(range_, {.choices = choices_, .points = points_}, rows(),
               {.reward = {&reward, 1},
                .terminated = {&terminated, 1},
                .truncated = {&truncated, 1},
                .final_obs = final_obs_,
                .episode = {&ended_, 1}});
    total_reward += reward;
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

/// Means over the episodes that tell of it.
Metrics means_of(const std::vector<std::string>& names, const std::vector<EpisodeEnd>& ends) {
  Metrics means;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Moments stat;
    for (const EpisodeEnd& end : ends) {
      if (!std::isnan(end.stats[i])) { stat.add(end.stats[i]); }
    }
    if (stat.count > 0) { means.emplace_back(names[i], stat.mean); }
  }
  return means;
}

}  // namespace

EvalResult summarise(const std::vector<EpisodeEnd>& ends, const EnvSpec& spec,
                     std::int64_t max_steps) {
  EvalResult result;
  if (ends.empty()) { return result; }
  Moments rewards;
  Moments lengths;
  Moments successes;
  for (const EpisodeEnd& end : ends) {
    rewards.add(end.total_reward);
    lengths.add(end.length);
    if (max_steps > 0 && end.length >= max_steps) { ++result.cut_off; }
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
  result.stats = means_of(spec.stats, ends);
  return result;
}

std::vector<EpisodeEnd> play_episodes(const Player& player, const EnvFactory& env, ThreadPool& pool,
                                      const EvalOptions& options) {
  const std::size_t episodes = options.episodes;
  const RandomKey key{.seed = options.seed, .stream = Stream::evaluate};
  const std::uint64_t base = Random(key).next64();
  std::vector<EpisodeEnd> ends(episodes);
  const std::size_t played = (episodes + options.stride - 1 - options.first) / options.stride;
  const std::size_t workers = std::min(pool.size(), std::max<std::size_t>(1, played));
  const std::unique_ptr<VecEnv> envs = env.make(workers, base);
  std::vector<std::unique_ptr<Actor>> actors;
  for (std::size_t i = 0; i < workers; ++i) { actors.push_back(make_actor(player.model)); }
  load_shared(*envs, player.shared);
  if (SharedLearner* shared = envs->shared()) { shared->begin_evaluation(); }
  pool.run(workers, [&](std::size_t worker) {
    const std::size_t stride = options.stride * workers;
    for (std::size_t i = options.first + options.stride * worker; i < episodes; i += stride) {
      constexpr unsigned kBits = 33;  // leaves 31: a seed that any env takes
      envs->seed(worker, episode_seed(base, i, 0) >> kBits);
      Episode episode(*actors[worker], *envs, worker, i);
      if (!episode.play(options)) { return; }
      ends[i] = episode.end();
    }
  });
  if (is_set(options.stop)) { ends.clear(); }
  return ends;
}

EvalResult evaluate(const Player& player, const EnvFactory& env, ThreadPool& pool,
                    const EvalOptions& options) {
  const std::vector<EpisodeEnd> ends = play_episodes(player, env, pool, options);
  return summarise(ends, env.spec(), options.max_steps);
}

}  // namespace penstock
