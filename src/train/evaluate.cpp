#include "penstock/train/evaluate.h"

#include <cmath>
#include <memory>

#include "penstock/base/random.h"

namespace penstock {
namespace {

/// One env, its row and the memory of one step.
class Episode {
 public:
  /// Plays on env and replica `worker`; the episode's number is its place in the randomness.
  Episode(const Actor& actor, VecEnv& envs, std::size_t worker, std::size_t number)
      : actor_(actor),
        envs_(envs),
        range_{worker, worker + 1},
        number_(number),
        obs_(envs.spec().obs.size()),
        legal_(std::make_unique<bool[]>(envs.spec().action.num_actions())),
        params_(actor.head.num_params()),
        final_obs_(envs.spec().obs.size()),
        choices_(envs.spec().action.dims()),
        points_(envs.spec().action.dims()),
        env_points_(envs.spec().action.dims()) {}

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
    if (actor_.normaliser != nullptr) { actor_.normaliser->apply(obs_); }
    actor_.policy.infer(range_.begin,
                        {.num_rows = 1, .obs = obs_, .legal = rows().legal, .params = params_});
    float log_prob = 0;
    const ActionBlock block{.params = params_,
                            .legal = rows().legal,
                            .choices = choices_,
                            .points = points_,
                            .log_prob = {&log_prob, 1}};
    if (options.deterministic) {
      actor_.head.mode(block);
    } else {
      actor_.head.sample(block, {.seed = options.seed, .first_env = number_, .step = step});
    }
    if (envs_.spec().action.continuous()) { actor_.head.to_env(points_, env_points_); }
  }

  bool step() {
    float reward = 0;
    bool terminated = false;
    bool truncated = false;
    envs_.step(range_, {.choices = choices_, .points = env_points_}, rows(),
               {.reward = {&reward, 1},
                .terminated = {&terminated, 1},
                .truncated = {&truncated, 1},
                .final_obs = final_obs_,
                .episode = {&ended_, 1}});
    return terminated || truncated;
  }

  const Actor& actor_;
  VecEnv& envs_;
  EnvRange range_;
  std::size_t number_;
  std::vector<float> obs_;  // [F]
  std::unique_ptr<bool[]>
      legal_;                  // [A]  NOLINT(modernize-avoid-c-arrays): vector<bool> has no span
  std::vector<float> params_;  // [P]
  std::vector<float> final_obs_;
  std::vector<std::int64_t> choices_;
  std::vector<float> points_;
  std::vector<float> env_points_;
  EpisodeEnd ended_;
};

EvalResult summarise(const std::vector<EpisodeEnd>& ends) {
  EvalResult result;
  Moments rewards;
  Moments lengths;
  Moments successes;
  for (const EpisodeEnd& end : ends) {
    rewards.add(end.total_reward);
    lengths.add(static_cast<double>(end.length));
    if (end.success != Success::unknown) { successes.add(end.success == Success::yes ? 1 : 0); }
  }
  constexpr double kNormal95 = 1.959964;
  const auto n = static_cast<double>(ends.size());
  result.episodes = static_cast<std::int64_t>(ends.size());
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

std::vector<EpisodeEnd> play_episodes(const Actor& actor, const EnvFactory& env, ThreadPool& pool,
                                      const EvalOptions& options) {
  const auto episodes = static_cast<std::size_t>(options.episodes);
  const RandomKey key{.seed = options.seed, .stream = Stream::evaluate};
  const std::uint64_t base = Random(key).next64();
  std::vector<EpisodeEnd> ends(episodes);
  const std::size_t workers = std::min(actor.policy.num_shards(), episodes);
  const std::unique_ptr<VecEnv> envs = env.make(workers, base);
  if (actor.envs != nullptr) {
    std::vector<std::byte> shared;
    actor.envs->save_shared(shared);
    envs->load_shared(shared);
  }
  envs->begin_evaluation();
  pool.run(workers, [&](std::size_t worker) {
    for (std::size_t i = worker; i < episodes; i += workers) {
      constexpr unsigned kBits = 33;  // leaves 31: a seed that any env takes
      envs->seed(worker, episode_seed(base, static_cast<std::uint32_t>(i), 0) >> kBits);
      ends[i] = Episode(actor, *envs, worker, i).play(options);
    }
  });
  return ends;
}

EvalResult evaluate(const Actor& actor, const EnvFactory& env, ThreadPool& pool,
                    const EvalOptions& options) {
  return summarise(play_episodes(actor, env, pool, options));
}

}  // namespace penstock
