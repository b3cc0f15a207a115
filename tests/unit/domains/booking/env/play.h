#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/env/answers.h"
#include "penstock/domains/booking/env/dvrptw.h"

namespace penstock::booking::test {

/// Envs and the memory of one step.
class Play {
 public:
  Play(const DvrptwConfig& config, std::size_t num_envs, std::uint64_t seed = 1)
      : env(make_dvrptw(config, num_envs, seed)),
        features(env->spec().obs.size()),
        obs(num_envs * features),
        legal(std::make_unique<bool[]>(num_envs * kNumOffers)),
        reward(num_envs),
        terminated(std::make_unique<bool[]>(num_envs)),
        truncated(std::make_unique<bool[]>(num_envs)),
        final_obs(num_envs * features),
        episode(num_envs),
        actions(num_envs, kNoChange),
        random(seed) {
    std::fill_n(legal.get(), num_envs * kNumOffers, true);
  }

  void reset() { env->reset({0, env->num_envs()}, rows()); }
  void step() {
    const std::size_t n = env->num_envs();
    env->step({0, n}, {.choices = actions, .points = {}}, rows(),
              {.reward = reward,
               .terminated = {terminated.get(), n},
               .truncated = {truncated.get(), n},
               .final_obs = final_obs,
               .episode = episode});
  }
  /// With legal offers, each as likely.
  void random_step() {
    for (std::size_t i = 0; i < actions.size(); ++i) {
      do { actions[i] = random.below(kNumOffers); } while (!mask(i)[actions[i]]);
    }
    step();
  }
  [[nodiscard]] const bool* mask(std::size_t i) const { return legal.get() + i * kNumOffers; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(obs).subspan(i * features, features);
  }
  [[nodiscard]] ObsRows rows() {
    const bool masked = env->spec().action.masked();
    return {obs, {legal.get(), masked ? env->num_envs() * kNumOffers : 0}};
  }

  std::unique_ptr<VecEnv> env;
  std::size_t features;
  std::vector<float> obs;
  std::unique_ptr<bool[]> legal;
  std::vector<float> reward;
  std::unique_ptr<bool[]> terminated;
  std::unique_ptr<bool[]> truncated;
  std::vector<float> final_obs;
  std::vector<EpisodeEnd> episode;
  std::vector<std::int64_t> actions;
  Random random;
};

inline double metric(VecEnv& env, const std::string& name) {
  for (const auto& [key, value] : env.shared()->take_metrics()) {
    if (key == name) { return value; }
  }
  return -1;
}

}  // namespace penstock::booking::test
