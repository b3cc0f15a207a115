#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "penstock/core/algo/a2c.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/nn/action_terms.h"
#include "penstock/core/nn/mlp.h"

namespace vtrace_test {

using namespace penstock;

namespace {

constexpr GaeConfig kConfig{.gamma = 0.9, .lambda = 0.8};
constexpr std::int64_t kSteps = 20;
constexpr std::int64_t kEnvs = 6;
const EnvSpec kSpec{Layout(3), Discrete{4, true}, 0};

Fragment any_fragment(std::int64_t envs = kEnvs) {
  Fragment x(kSpec, kSteps, envs);
  x.obs.normal_();
  x.legal.fill_(true);
  x.legal.select(2, 3).zero_();
  x.actions.copy_(at::randint(0, 3, x.actions.sizes(), at::kLong));
  x.log_prob.uniform_(-2, -0.5);
  x.value.normal_();
  x.reward.normal_();
  x.terminated.copy_(at::rand(x.reward.sizes()) < 0.1);
  x.truncated.copy_(at::rand(x.reward.sizes()) < 0.1);
  x.final_value.normal_();
  x.version.zero_();
  return x;
}

Targets room_for(const Fragment& x) { return {at::zeros_like(x.reward), at::zeros_like(x.reward)}; }

double number(const at::Tensor& x, std::int64_t t, std::int64_t n) {
  return x[t][n].item<double>();
}

/// The sum that the recursion stands for, term by term and in double.
double advantage_of(const Fragment& x, const at::Tensor& ratio, std::int64_t t, std::int64_t n) {
  double sum = 0;
  double weight = 1;
  for (std::int64_t k = t; k < kSteps; ++k) {
    const double trust = std::min(1.0, number(ratio, k, n));
    const bool terminated = x.terminated[k][n].item<bool>();
    const bool truncated = x.truncated[k][n].item<bool>();
    const double future = terminated  ? 0
                          : truncated ? number(x.final_value, k, n)
                                      : number(x.value, k + 1, n);
    sum +=
        weight * trust * (number(x.reward, k, n) + kConfig.gamma * future - number(x.value, k, n));
    if (terminated || truncated) { break; }
    weight *= kConfig.gamma * kConfig.lambda * trust;
  }
  return sum;
}

/// A policy, and what a learner of it needs.
struct Learning {
  explicit Learning(Fusion fusion, std::size_t threads = 1, std::size_t envs = kEnvs)
      : shards(envs, 2),
        policy([] { return make_mlp(kSpec, {.hidden = {16}}, 1); }, shards.count(), at::kCPU,
               fusion),
        pool({.num_threads = threads, .on_start = [] { at::set_num_threads(1); }}) {}

  [[nodiscard]] LearnerParts parts() {
    return {.policy = policy,
            .head = *head,
            .shards = shards,
            .pool = pool,
            .peers = alone(),
            .seed = 1};
  }
  /// Another policy than the one that sampled.
  void move() {
    policy.weights().add_(at::randn_like(policy.weights()), 0.3);
    policy.weights_changed();
    policy.set_version(policy.version() + 1);
  }
  /// What autograd's network says.
  Judgement judged(const Fragment& x) {
    Judgement all{at::zeros_like(x.log_prob), at::zeros_like(x.value)};
    for (std::int64_t t = 0; t <= kSteps; ++t) {
      const NetworkOutput out = policy.replica(0).forward({x.obs[t], x.legal[t]}, Outputs::both);
      all.value[t].copy_(out.value.detach());
      if (t == kSteps) { break; }
      all.log_prob[t].copy_(
          action_terms(*head, out.params, x.actions[t], x.legal[t]).log_prob.detach());
    }
    return all;
  }

  Shards shards;
  std::shared_ptr<const ActionHead> head = make_action_head(kSpec.action, false);
  Policy policy;
  ThreadPool pool;
};

double apart(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

}  // namespace

TEST_CASE("V-trace by NumPy") {
  // r, V, q = [1, 2, 3, 4], [10, 20, 30, 40, 50], minimum([0.5, 2, 0.25, 1.5], 1), gamma 0.9:
  // A = q * (r + 0.9 * V[1:] - V[:-1]), then backwards A[t] += 0.72 * q[t] * A[t + 1]
  Fragment x(kSpec, 4, 1);
  x.reward.copy_(at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).unsqueeze(1));
  x.value.copy_(at::tensor({10.0F, 20.0F, 30.0F, 40.0F, 50.0F}).unsqueeze(1));
  x.terminated.zero_();
  x.truncated.zero_();
  x.final_value.zero_();
  const at::Tensor ratio = at::tensor({0.5F, 2.0F, 0.25F, 1.5F}).unsqueeze(1);
  const Targets found = room_for(x);
  compute_vtrace(x, ratio, {0, 1}, kConfig, found);
  const std::vector<double> expected = {8.743104, 11.7864, 3.87, 9.0};
  for (std::int64_t t = 0; t < 4; ++t) {
    CHECK(number(found.advantage, t, 0) == doctest::Approx(expected[t]).epsilon(1e-6));
    CHECK(number(found.value, t, 0) == doctest::Approx(expected[t] + 10 * (t + 1)).epsilon(1e-6));
  }
}

TEST_CASE("V-trace is the weighted sum of errors to the episode's end") {
  at::manual_seed(3);
  const Fragment x = any_fragment();
  const at::Tensor ratio = at::rand(x.reward.sizes()) * 2;
  const Targets found = room_for(x);
  compute_vtrace(x, ratio, {0, 2}, kConfig, found);
  compute_vtrace(x, ratio, {2, kEnvs}, kConfig, found);
  for (std::int64_t t = 0; t < kSteps; ++t) {
    for (std::int64_t n = 0; n < kEnvs; ++n) {
      const double expected = advantage_of(x, ratio, t, n);
      CHECK(std::abs(number(found.advantage, t, n) - expected) < 2e-6);
      CHECK(std::abs(number(found.value, t, n) - expected - number(x.value, t, n)) < 2e-6);
    }
  }
}

TEST_CASE("where the policy has not moved, V-trace has the bits of GAE") {
  at::manual_seed(4);
  const Fragment x = any_fragment();
  const Targets plain = room_for(x);
  const Targets corrected = room_for(x);
  compute_gae(x, {0, kEnvs}, kConfig, plain);
  compute_vtrace(x, at::ones_like(x.reward), {0, kEnvs}, kConfig, corrected);
  CHECK(at::equal(plain.advantage, corrected.advantage));
  CHECK(at::equal(plain.value, corrected.value));
}

TEST_CASE("rows of an older policy are judged anew by the one that learns, fused or not") {
  at::set_num_threads(1);
  for (const Fusion fusion : {Fusion::never, Fusion::always}) {
    at::manual_seed(5);
    Learning learning(fusion);
    Fragment rollout = any_fragment();
    const Fragment before = [&] {
      Fragment copy = any_fragment();
      for (std::size_t i = 0; i < copy.tensors().size(); ++i) {
        copy.tensors()[i].second.copy_(rollout.tensors()[i].second);
      }
      return copy;
    }();
    learning.move();
    const Judgement expected = learning.judged(rollout);
    const at::Tensor ratio = (expected.log_prob - before.log_prob).exp();
    Ppo ppo({.policy_epochs = 1, .value_epochs = 1}, learning.parts());
    ppo.update(rollout, 0);
    CHECK(apart(rollout.log_prob, expected.log_prob) < 1e-5);
    CHECK(apart(rollout.value, expected.value) < 1e-5);
    // An update is what it would be of a policy that acted like this one, on corrected targets.
    CHECK(ratio.min().item<double>() < 0.9);
    CHECK(ratio.max().item<double>() > 1.1);
  }
}

TEST_CASE("a rollout of the learner's own version stays as it was sampled") {
  at::set_num_threads(1);
  at::manual_seed(6);
  Learning learning(Fusion::always);
  learning.move();
  Fragment rollout = any_fragment();
  rollout.version.fill_(learning.policy.version());
  const at::Tensor log_prob = rollout.log_prob.clone();
  const at::Tensor value = rollout.value.clone();
  Ppo ppo({}, learning.parts());
  ppo.update(rollout, 0);
  CHECK(at::equal(rollout.log_prob, log_prob));
  CHECK(at::equal(rollout.value, value));
}

TEST_CASE("one old row is enough, and threads change nothing") {
  at::set_num_threads(1);
  std::vector<at::Tensor> weights;
  for (const std::size_t threads : {1, 2}) {
    at::manual_seed(7);
    Learning learning(Fusion::always, threads);
    learning.move();
    Fragment rollout = any_fragment();
    rollout.version.fill_(learning.policy.version());
    rollout.version[kSteps - 1][kEnvs - 1] = learning.policy.version() - 1;
    const at::Tensor sampled = rollout.log_prob.clone();
    A2c a2c({}, learning.parts());
    a2c.update(rollout, 0);
    CHECK(!at::equal(rollout.log_prob, sampled));
    weights.push_back(learning.policy.weights().clone());
  }
  CHECK(at::equal(weights[0], weights[1]));
}

TEST_CASE("A2C's pass over an old rollout is that of autograd, whatever fills a chunk") {
  at::set_num_threads(1);
  // Several steps in a chunk, not a whole number of them; a step in several chunks.
  for (const std::int64_t envs : {1, 2, 6, 50, 150}) {
    INFO(envs);
    std::vector<Fragment> rollouts;
    std::vector<at::Tensor> weights;
    std::vector<double> losses;
    for (const Fusion fusion : {Fusion::never, Fusion::always}) {
      at::manual_seed(8);
      Learning learning(fusion, 1, envs);
      Fragment& rollout = rollouts.emplace_back(any_fragment(envs));
      learning.move();
      A2c a2c({.entropy_weight = 0.01}, learning.parts());
      for (const auto& [name, value] : a2c.update(rollout, 0)) {
        if (name == "train/loss" || name == "train/explained_variance") { losses.push_back(value); }
      }
      weights.push_back(learning.policy.weights().clone());
    }
    CHECK(apart(rollouts[0].log_prob, rollouts[1].log_prob) < 1e-5);
    CHECK(apart(rollouts[0].value, rollouts[1].value) < 1e-5);
    CHECK(apart(weights[0], weights[1]) < 1e-5);
    REQUIRE(losses.size() == 4);
    CHECK(losses[0] == doctest::Approx(losses[2]).epsilon(1e-4));
    CHECK(losses[1] == doctest::Approx(losses[3]).epsilon(1e-4));
  }
}

}  // namespace vtrace_test
