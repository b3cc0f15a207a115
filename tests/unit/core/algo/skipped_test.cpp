// Minibatches whose loss or gradient is not finite.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "penstock/core/algo/a2c.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/mlp.h"

namespace skipped_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(3), Discrete{4, true}, 0};
constexpr std::int64_t kSteps = 16;
constexpr std::int64_t kEnvs = 12;
constexpr std::int64_t kBadEnv = 7;
constexpr std::int64_t kBadSample = (kSteps - 1) * kEnvs + kBadEnv;
const Fusion kFusions[] = {Fusion::never, Fusion::always};

Fragment clean_rollout() {
  at::manual_seed(5);
  Fragment buffer(kSpec, kSteps, kEnvs);
  buffer.obs.normal_();
  buffer.legal.fill_(true);
  buffer.actions.copy_(at::randint(0, 3, buffer.actions.sizes(), at::kLong));
  buffer.log_prob.fill_(-1.0986F);
  buffer.value.normal_();
  buffer.reward.normal_();
  buffer.terminated.zero_();
  buffer.terminated[kSteps - 2].fill_(true);  // what is wrong with the last step stays there
  buffer.truncated.zero_();
  buffer.version.zero_();
  buffer.final_value.zero_();
  return buffer;
}

/// One sample is NaN, and so is everything that it is averaged into.
Fragment bad_rollout() {
  Fragment buffer = clean_rollout();
  buffer.reward[kSteps - 1][kBadEnv].fill_(std::nan(""));
  return buffer;
}

/// A policy and what a learner of it needs.
struct Rig {
  explicit Rig(Fusion fusion)
      : shards(kEnvs, 3),
        head(make_action_head(kSpec.action, false)),
        policy([] { return make_mlp(kSpec, {.hidden = {16}}, 1); }, shards.count(), at::kCPU,
               fusion),
        pool({.num_threads = 2, .on_start = [] { at::set_num_threads(1); }}) {
    at::set_num_threads(1);
  }
  LearnerParts parts() {
    return {.policy = policy,
            .head = *head,
            .shards = shards,
            .pool = pool,
            .peers = alone(),
            .seed = 1};
  }

  Shards shards;
  std::unique_ptr<ActionHead> head;
  Policy policy;
  ThreadPool pool;
};

double metric(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) { return value; }
  }
  return 0;
}

at::Tensor tensor(const SkippedMinibatch& skipped, const std::string& name) {
  for (const auto& [key, value] : skipped.tensors) {
    if (key == name) { return value; }
  }
  FAIL("no tensor " << name);
  return {};
}

void check_dump(const SkippedMinibatch& skipped, const Fragment& rollout) {
  const at::Tensor index = tensor(skipped, "index");
  const at::Tensor bad = index == kBadSample;
  CHECK(bad.sum().item<std::int64_t>() == 1);
  const at::Tensor advantage = tensor(skipped, "advantage");
  CHECK(at::equal(advantage.isfinite(), bad.logical_not()));
  CHECK(at::equal(tensor(skipped, "return").isfinite(), bad.logical_not()));
  const auto rows = [&](const at::Tensor& x) {
    return x.narrow(0, 0, kSteps).flatten(0, 1).index_select(0, index);
  };
  CHECK(at::equal(tensor(skipped, "obs"), rows(rollout.obs)));
  CHECK(at::equal(tensor(skipped, "legal"), rows(rollout.legal)));
  CHECK(at::equal(tensor(skipped, "actions"), rows(rollout.actions)));
  CHECK(at::equal(tensor(skipped, "old_log_prob"), rows(rollout.log_prob)));
  CHECK(at::equal(tensor(skipped, "old_value"), rows(rollout.value)));
  CHECK(!tensor(skipped, "loss").isfinite().all().item<bool>());
}

}  // namespace

TEST_CASE(
    "fault 12: a minibatch that is not finite is skipped and shown, the others are learnt from") {
  for (const Fusion fusion : kFusions) {
    Rig rig(fusion);
    const at::Tensor before = rig.policy.weights().clone();
    Ppo ppo({.policy_epochs = 1, .value_epochs = 3, .minibatch = 48}, rig.parts());
    Fragment rollout = bad_rollout();
    const Metrics metrics = ppo.update(rollout, 0);
    CHECK(rig.policy.version() == 1);
    CHECK(metric(metrics, "train/skipped_minibatches") == 3);  // one of four in each epoch
    CHECK(std::isfinite(metric(metrics, "train/loss")));
    CHECK(std::isfinite(metric(metrics, "train/value_loss")));
    CHECK(rig.policy.weights().isfinite().all().item<bool>());
    CHECK(!at::equal(rig.policy.weights(), before));
    CHECK(ppo.optimiser().num_steps() == 9);

    const std::vector<SkippedMinibatch> skipped = ppo.take_skipped();
    REQUIRE(skipped.size() == 3);
    CHECK(ppo.take_skipped().empty());
    for (std::size_t e = 0; e < 3; ++e) {
      CHECK(skipped[e].update == 1);
      CHECK((skipped[e].minibatch - 1) / 4 == static_cast<std::int64_t>(e));
      CHECK(skipped[e].file() ==
            "dump/update-1-minibatch-" + std::to_string(skipped[e].minibatch) + ".safetensors");
      check_dump(skipped[e], rollout);
    }
    Fragment clean = clean_rollout();
    CHECK(metric(ppo.update(clean, 0), "train/skipped_minibatches") == 3);  // no more of them
  }
}

TEST_CASE("fault 12: what was skipped leaves no trace in what is learnt afterwards") {
  for (const Fusion fusion : kFusions) {
    const PpoConfig config{.policy_epochs = 2, .value_epochs = 2, .minibatch = kSteps * kEnvs};
    Rig spared(fusion);
    spared.policy.set_version(1);
    Ppo expected(config, spared.parts());
    Fragment clean = clean_rollout();
    expected.update(clean, 0);

    Rig rig(fusion);
    const at::Tensor before = rig.policy.weights().clone();
    Ppo ppo(config, rig.parts());
    Fragment bad = bad_rollout();
    CHECK(metric(ppo.update(bad, 0), "train/skipped_minibatches") == 2);
    CHECK(at::equal(rig.policy.weights(), before));
    CHECK(ppo.optimiser().num_steps() == 0);
    for (std::size_t s = 0; s < 3; ++s) {
      CHECK(rig.policy.gradient(s).count_nonzero().item<std::int64_t>() == 0);
    }
    Fragment again = clean_rollout();
    const Metrics metrics = ppo.update(again, 0);
    CHECK(at::equal(rig.policy.weights(), spared.policy.weights()));
    CHECK(at::equal(ppo.optimiser().exp_avg(), expected.optimiser().exp_avg()));
    CHECK(std::isfinite(metric(metrics, "train/loss")));
  }
}

TEST_CASE("fault 12: too many in a row end the run, and one that is well begins the count anew") {
  for (const Fusion fusion : kFusions) {
    Rig rig(fusion);
    Ppo ppo({.policy_epochs = 1, .value_epochs = 1, .minibatch = kSteps * kEnvs, .max_skipped = 3},
            rig.parts());
    Fragment bad = bad_rollout();
    Fragment clean = clean_rollout();
    for (Fragment* each : {&bad, &bad, &clean, &bad, &bad}) { ppo.update(*each, 0); }
    CHECK(ppo.take_skipped().size() == 4);
    const at::Tensor before = rig.policy.weights().clone();
    CHECK_THROWS_WITH_AS(ppo.update(bad, 0),
                         "update 6: the loss or its gradient was not finite 3 times in a row "
                         "(ppo.max_skipped); the rows of the last time are in "
                         "dump/update-6-minibatch-1.safetensors of the run directory, and the last "
                         "checkpoint is from before. Try a lower ppo.learning_rate, a "
                         "ppo.max_grad_norm, or normalise.reward = true",
                         Error);
    CHECK(at::equal(rig.policy.weights(), before));
    CHECK(ppo.take_skipped().size() == 1);
  }
}

TEST_CASE("fault 12: a loss that overflows is not learnt from, though its gradient does not") {
  Rig rig(Fusion::never);
  const at::Tensor before = rig.policy.weights().clone();
  Ppo ppo(
      {.value_weight = 1e-3, .policy_epochs = 0, .value_epochs = 1, .minibatch = kSteps * kEnvs},
      rig.parts());
  Fragment rollout = clean_rollout();
  rollout.terminated.fill_(true);
  rollout.reward.fill_(2e19F);  // its square is beyond a float
  CHECK(metric(ppo.update(rollout, 0), "train/skipped_minibatches") == 1);
  CHECK(at::equal(rig.policy.weights(), before));
}

TEST_CASE("fault 12: of many that are skipped the first ones are kept, all are counted") {
  Rig rig(Fusion::always);
  Ppo ppo({.policy_epochs = 40, .value_epochs = 40, .minibatch = 96}, rig.parts());
  Fragment rollout = bad_rollout();
  CHECK(metric(ppo.update(rollout, 0), "train/skipped_minibatches") == 40);
  CHECK(ppo.take_skipped().size() == 16);
}

TEST_CASE("fault 12: A2C skips an update that is not finite, and ends after too many in a row") {
  for (const Fusion fusion : kFusions) {
    Rig rig(fusion);
    const at::Tensor before = rig.policy.weights().clone();
    A2c a2c({.max_skipped = 2}, rig.parts());
    Fragment bad = bad_rollout();
    const Metrics metrics = a2c.update(bad, 0);
    CHECK(metric(metrics, "train/skipped_minibatches") == 1);
    CHECK(std::isfinite(metric(metrics, "train/loss")));
    CHECK(at::equal(rig.policy.weights(), before));
    CHECK(rig.policy.version() == 1);
    const std::vector<SkippedMinibatch> skipped = a2c.take_skipped();
    REQUIRE(skipped.size() == 1);
    check_dump(skipped[0], bad);
    Fragment clean = clean_rollout();
    a2c.update(clean, 0);
    CHECK(!at::equal(rig.policy.weights(), before));
    a2c.update(bad, 0);
    CHECK_THROWS_WITH_AS(a2c.update(bad, 0), doctest::Contains("a2c.max_skipped"), Error);
  }
}

TEST_CASE("fault 12: Adam does not step where the norm is not finite") {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const double limit : {0.0, 0.5}) {
      Rig rig(Fusion::never);
      Adam adam(rig.policy, rig.pool, alone(), {.max_grad_norm = limit});
      const at::Tensor before = rig.policy.weights().clone();
      rig.policy.gradient(1)[5].fill_(wrong);
      CHECK(!adam.step(1e-3));
      CHECK(at::equal(rig.policy.weights(), before));
      CHECK(adam.num_steps() == 0);
      CHECK(adam.exp_avg().count_nonzero().item<std::int64_t>() == 0);
      for (std::size_t s = 0; s < 3; ++s) { rig.policy.gradient(s).fill_(0.1); }
      CHECK(adam.step(1e-3));
      CHECK(adam.num_steps() == 1);
    }
  }
}

}  // namespace skipped_test
