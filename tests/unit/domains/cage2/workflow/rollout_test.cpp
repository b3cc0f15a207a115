#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include <memory>

#include "penstock/core/env/batched_env.h"
#include "penstock/core/nn/mlp.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/rollout/sampler.h"
#include "penstock/domains/cage2/sim/workflow.h"

// What a simple loop easily gets wrong: to store the next observation with an
// action, and never to reset the envs.

namespace penstock::cage2 {
namespace {

constexpr std::size_t kNumEnvs = 6;
constexpr std::int64_t kNumSteps = 250;  // two episodes and a half
constexpr std::uint64_t kSeed = 5;

struct Rig {
  Rig()
      : envs(config(), kNumEnvs, kSeed),
        shards(kNumEnvs, 2),
        head(make_action_head(envs.spec().action, false)),
        policy([this] { return make_mlp(envs.spec(), {}, 1); }, shards.count(), at::kCPU),
        pool({.num_threads = 1}),
        buffer(envs.spec(), kNumSteps, kNumEnvs),
        sampler(envs, actors(), shards, buffer, pool, alone(), {.seed = 3}) {
    sampler.advance(kNumSteps);
  }
  std::vector<std::unique_ptr<Actor>> actors() {
    policy.weights().mul_(6);  // a policy with opinions, so that each observation tells
    policy.weights_changed();
    const auto model = policy.publish(policy.shape(envs.spec(), head, 0), {});
    std::vector<std::unique_ptr<Actor>> made;
    for (std::size_t s = 0; s < shards.count(); ++s) { made.push_back(make_actor(model)); }
    return made;
  }
  static WorkflowEnv::Config config() {
    WorkflowEnv::Config config;
    config.red = "meander";
    return config;
  }
  /// Log probabilities of the actions of step t as the observations of step `seen` make them.
  [[nodiscard]] at::Tensor log_prob(std::int64_t t, std::int64_t seen) {
    const c10::NoGradGuard no_grad;
    const at::Tensor logits =
        policy.replica(0).forward({buffer.obs[seen], {}}, Outputs::policy).params;
    return logits.log_softmax(1).gather(1, buffer.actions[t]).squeeze(1);
  }

  BatchedEnv<WorkflowEnv> envs;
  Shards shards;
  std::shared_ptr<const ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Fragment buffer;
  Sampler sampler;
};

TEST_CASE("the observation stored with an action is the one it was chosen by") {
  Rig rig;
  std::int64_t differ = 0;
  for (std::int64_t t = 0; t < kNumSteps; ++t) {
    REQUIRE(at::allclose(rig.log_prob(t, t), rig.buffer.log_prob[t], 1e-4, 1e-4));
    const at::Tensor next = rig.log_prob(t, t + 1);
    differ += next.sub(rig.buffer.log_prob[t]).abs().gt(1e-3).sum().item<std::int64_t>();
  }
  CHECK(differ > kNumSteps * static_cast<std::int64_t>(kNumEnvs) / 4);  // the next one is another
}

TEST_CASE("the rows are those of the env by itself, and the stored actions bring the rewards") {
  Rig rig;
  for (std::size_t i = 0; i < kNumEnvs; ++i) {
    WorkflowEnv env(Rig::config());
    std::vector<float> row(kObsSize + kOrderSize);
    std::uint64_t episode = 0;
    const auto same = [&](std::int64_t t) {
      return std::ranges::equal(rig.buffer.obs_rows(t, {i, i + 1}).obs, row);
    };
    for (std::int64_t t = 0; t < kNumSteps; ++t) {
      if (t % 100 == 0) {
        env.reset(episode_seed(kSeed, static_cast<std::uint32_t>(i), episode++), {row, {}});
      }
      REQUIRE(same(t));
      const auto action = rig.buffer.actions[t][static_cast<std::int64_t>(i)].item<std::int64_t>();
      const Outcome outcome = env.step(action, {row, {}});
      REQUIRE(rig.buffer.reward[t][static_cast<std::int64_t>(i)].item<float>() == outcome.reward);
    }
  }
}

TEST_CASE("an env begins anew when its episode ends") {
  Rig rig;
  for (std::int64_t t = 0; t < kNumSteps; ++t) {
    CHECK(rig.buffer.terminated[t].all().item<bool>() == (t % 100 == 99));
  }
  for (const std::int64_t first : {0, 100, 200}) {
    CHECK(rig.buffer.obs[first].narrow(1, 0, kObsSize).abs().sum().item<float>() == 0);
  }
  const std::vector<EpisodeEnd> ends = rig.sampler.take_episodes();
  REQUIRE(ends.size() == 2 * kNumEnvs);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const EpisodeEnd& end = ends[i];
    const double aligned = 10 * end.stats[1] - 10 * (1 - end.stats[1]);
    CHECK(end.length == 100);
    CHECK(end.total_reward == doctest::Approx(end.stats[0] + aligned).epsilon(1e-6));
    CHECK(end.env == i % 3 + i / 6 * 3);  // by shard, step, env
  }
}

TEST_CASE("a saved sampler keeps what envs told of their episodes") {
  Rig rig;
  const Sampler::State state = rig.sampler.save();
  Rig other;
  other.sampler.take_episodes();
  other.sampler.load(state);
  const auto before = rig.sampler.take_episodes();
  const auto after = other.sampler.take_episodes();
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(before[i].stats == after[i].stats);
    CHECK(before[i].env == after[i].env);
    CHECK(before[i].total_reward == after[i].total_reward);
  }
}

}  // namespace
}  // namespace penstock::cage2
