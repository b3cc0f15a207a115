#include "penstock/core/algo/a2c.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include "penstock/core/nn/action_terms.h"
#include "penstock/core/nn/mlp.h"
#include "support/torch_adam.h"

namespace a2c_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(3), Discrete{4, true}, 0};
constexpr std::int64_t kSteps = 5;
constexpr std::int64_t kEnvs = 6;

/// A policy, its actions and all else that an update needs.
struct Rig {
  Rig(Fusion fusion, std::size_t num_shards, std::size_t threads)
      : shards(kEnvs, num_shards),
        head(make_action_head(kSpec.action, false)),
        policy([] { return make_mlp(kSpec, {.hidden = {16}}, 1); }, shards.count(), at::kCPU,
               fusion),
        pool({.num_threads = threads, .on_start = [] { at::set_num_threads(1); }}),
        fragment(kSpec, kSteps, kEnvs) {
    at::manual_seed(5);
    fragment.obs.normal_();
    fragment.legal.fill_(true);
    fragment.legal.select(2, 3).zero_();
    fragment.actions.copy_(at::randint(0, 3, fragment.actions.sizes(), at::kLong));
    fragment.reward.normal_();
    fragment.terminated.copy_(at::rand({kSteps, kEnvs}) < 0.2);
    fragment.truncated.zero_();
    fragment.final_value.zero_();
    const c10::NoGradGuard no_grad;
    const NetworkOutput out = policy.replica(0).forward(
        {fragment.obs.view({-1, 3}), fragment.legal.view({-1, 4})}, Outputs::both);
    fragment.value.copy_(out.value.view({kSteps + 1, kEnvs}));
    fragment.log_prob.copy_(action_terms(*head, out.params.narrow(0, 0, kSteps * kEnvs),
                                         fragment.actions.view({-1, 1}),
                                         fragment.legal.narrow(0, 0, kSteps).reshape({-1, 4}))
                                .log_prob.view({kSteps, kEnvs}));
  }

  Metrics update(const A2cConfig& config) {
    A2c learner(config, {.policy = policy,
                         .head = *head,
                         .shards = shards,
                         .pool = pool,
                         .peers = alone(),
                         .seed = 1});
    return learner.update(fragment, 0.0);
  }

  Shards shards;
  std::unique_ptr<ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Fragment fragment;
};

/// The textbook's A2C by torch's own autograd and Adam, on the policy as it starts.
at::Tensor textbook(const A2cConfig& config) {
  Rig rig(Fusion::never, 1, 1);
  const auto network = make_mlp(kSpec, {.hidden = {16}}, 1);
  std::vector<at::Tensor> parameters;
  for (const auto& [name, tensor] : network->parameters()) { parameters.push_back(tensor); }
  TorchAdam adam(parameters, config.learning_rate, config.adam_epsilon);
  const Fragment& x = rig.fragment;
  std::vector<at::Tensor> returns(kSteps);  // discounted, by the definition
  at::Tensor next = x.value[kSteps];
  for (std::int64_t t = kSteps - 1; t >= 0; --t) {
    next = x.reward[t] + config.gamma * next * (1 - x.terminated[t].to(at::kFloat));
    returns[static_cast<std::size_t>(t)] = next;
  }
  const at::Tensor target = at::stack(returns).flatten();
  const at::Tensor advantage = target - x.value.narrow(0, 0, kSteps).flatten();
  const at::Tensor legal = x.legal.narrow(0, 0, kSteps).reshape({-1, 4});
  const NetworkOutput out =
      network->forward({x.obs.narrow(0, 0, kSteps).reshape({-1, 3}), legal}, Outputs::both);
  const ActionTerms terms = action_terms(*rig.head, out.params, x.actions.view({-1, 1}), legal);
  const at::Tensor loss = -(terms.log_prob * advantage).mean() +
                          config.value_weight * (out.value - target).square().mean() -
                          config.entropy_weight * terms.entropy.mean();
  loss.backward();
  adam.step(config.max_grad_norm);
  std::vector<at::Tensor> flat;
  for (const at::Tensor& parameter : parameters) { flat.push_back(parameter.detach().flatten()); }
  return at::cat(flat);
}

at::Tensor weights_of(const Policy& policy) {
  std::vector<at::Tensor> flat;
  for (const ParameterSlot& slot : policy.slots()) {
    flat.push_back(Policy::view(policy.weights(), slot).flatten());
  }
  return at::cat(flat);
}

}  // namespace

TEST_CASE("an update is the textbook's: returns, policy gradient, value loss, one step") {
  at::set_num_threads(1);
  const A2cConfig config{.learning_rate = 0.01, .entropy_weight = 0.02};
  const at::Tensor expected = textbook(config);
  for (const Fusion fusion : {Fusion::never, Fusion::always}) {
    for (const std::size_t shards : {1, 4}) {
      Rig rig(fusion, shards, 2);
      const at::Tensor before = weights_of(rig.policy).clone();
      rig.update(config);
      CHECK(rig.policy.version() == 1);
      CHECK(!at::allclose(before, expected, 1e-4, 1e-5));
      CHECK(at::allclose(weights_of(rig.policy), expected, 1e-3, 2e-5));
    }
  }
}

TEST_CASE("the bits do not depend on threads") {
  for (const Fusion fusion : {Fusion::never, Fusion::always}) {
    Rig one(fusion, 4, 1);
    Rig many(fusion, 4, 3);
    one.update({.normalise_advantage = true});
    many.update({.normalise_advantage = true});
    CHECK(at::equal(one.policy.weights(), many.policy.weights()));
  }
}

}  // namespace a2c_test
