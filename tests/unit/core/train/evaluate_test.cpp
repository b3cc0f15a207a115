#include "penstock/core/train/evaluate.h"

#include <doctest/doctest.h>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/train/engine.h"

using namespace penstock;

namespace {

/// Rewards of days that an untrained policy draws offers in.
std::vector<double> rewards(const std::string& env_keys) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 960\nthreads = 1\n[env]\nid = \"dvrptw\"\nnum_envs = 4\n"
      "oracle = \"insertion\"\nobs = \"list\"\nmask = \"bayes\"\n" +
          env_keys,
      "test");
  const RunPlan plan(settings, default_catalog());
  Engine engine(plan);
  std::vector<double> found;
  for (const EpisodeEnd& end : play_episodes(engine.player(), plan.env(), engine.pool(),
                                             {.episodes = 8, .deterministic = false})) {
    found.push_back(end.total_reward);
  }
  return found;
}

}  // namespace

TEST_CASE("evaluation does not explore: what the env would do for learning's sake is off") {
  const auto plain = rewards("epsilon = 0.02\n");
  CHECK(rewards("epsilon = 1.0\nepsilon_floor = 1.0\n") == plain);
  CHECK(rewards("mask_from = \"sample\"\n") == plain);
  CHECK(rewards("mask_from = \"soft\"\n") != plain);  // another mask does matter
}
