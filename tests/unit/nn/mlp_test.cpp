#include "penstock/nn/mlp.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/base/errors.h"
#include "penstock/nn/policy.h"

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(5), Discrete{3}, 0};

std::map<std::string, at::Tensor> by_name(Network& network) {
  const auto all = network.parameters();
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("weights are orthogonal with the layer's gain") {
  const auto network = make_mlp(kSpec, {.hidden = {64, 32}}, 1);
  auto p = by_name(*network);
  const auto tall = p["actor.0.weight"];  // [64, 5]
  CHECK(at::allclose(tall.t().matmul(tall), 2 * at::eye(5), 1e-5, 1e-5));
  const auto wide = p["actor.1.weight"];  // [32, 64]
  CHECK(at::allclose(wide.matmul(wide.t()), 2 * at::eye(32), 1e-5, 1e-5));
  const auto last = p["actor.2.weight"];  // [3, 32]
  CHECK(at::allclose(last.matmul(last.t()), 1e-4 * at::eye(3), 1e-4, 1e-8));
  CHECK(p["critic.2.weight"].norm().item<float>() == doctest::Approx(1.0));
  CHECK(p["actor.0.bias"].abs().max().item<float>() == 0.0F);
}

TEST_CASE("the seed decides the weights") {
  auto a = by_name(*make_mlp(kSpec, {}, 1));
  auto b = by_name(*make_mlp(kSpec, {}, 1));
  auto c = by_name(*make_mlp(kSpec, {}, 2));
  CHECK(at::equal(a["critic.1.weight"], b["critic.1.weight"]));
  CHECK(!at::equal(a["critic.1.weight"], c["critic.1.weight"]));
  CHECK(!at::equal(a["actor.1.weight"], a["critic.1.weight"]));
}

TEST_CASE("forward computes what it is asked for") {
  for (const bool shared : {false, true}) {
    for (const char* activation : {"tanh", "relu"}) {
      const auto network =
          make_mlp(kSpec, {.hidden = {8, 4}, .activation = activation, .shared_trunk = shared}, 1);
      const Observation batch{at::randn({7, 5}), {}};
      const NetworkOutput both = network->forward(batch, Want::both);
      CHECK(both.params.sizes() == at::IntArrayRef({7, 3}));
      CHECK(both.value.sizes() == at::IntArrayRef({7}));
      CHECK(at::equal(network->forward(batch, Want::value).value, both.value));
      CHECK(!network->forward(batch, Want::policy).value.defined());
    }
  }
}

TEST_CASE("box actions get a log deviation of their own") {
  const auto network =
      make_mlp({Layout(2), Box{{-1, -1}, {1, 1}}, 0}, {.hidden = {4}, .log_std_init = -0.5}, 1);
  const auto params = network->forward({at::zeros({3, 2}), {}}, Want::policy).params;
  CHECK(params.sizes() == at::IntArrayRef({3, 4}));
  CHECK(at::allclose(params.narrow(1, 2, 2), at::full({3, 2}, -0.5F)));
}

TEST_CASE("replicas read one set of weights and fill their own flat gradient") {
  Policy policy([] { return make_mlp(kSpec, {.hidden = {6}}, 1); }, 2, at::kCPU);
  const Observation batch{at::randn({4, 5}), {}};
  policy.replica(0).forward(batch, Want::both).value.sum().backward();
  CHECK(policy.gradient(0).abs().sum().item<float>() > 0);
  CHECK(policy.gradient(1).abs().sum().item<float>() == 0);

  const at::Tensor before = policy.replica(1).forward(batch, Want::both).params;
  policy.weights().mul_(2);
  CHECK(!at::equal(policy.replica(1).forward(batch, Want::both).params, before));
  for (const ParameterSlot& slot : policy.slots()) {
    CHECK(slot.offset % 16 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(policy.weights().data_ptr<float>() + slot.offset) % 64 ==
          0);
  }
}

TEST_CASE("a part that is skipped past the network is added to the preferences") {
  const EnvSpec spec{Layout({{"clock", {2}}, {"values", {3}}}), Discrete{3}, 0};
  const NetConfig plain{.hidden = {8}};
  const NetConfig skipping{.hidden = {8}, .skip = "values", .skip_scale = 5};
  const at::Tensor obs = at::randn({70, 5});
  const at::Tensor without = make_mlp(spec, plain, 1)->forward({obs, {}}, Want::policy).params;
  const at::Tensor with = make_mlp(spec, skipping, 1)->forward({obs, {}}, Want::policy).params;
  CHECK(at::allclose(with, without + 5 * obs.narrow(1, 2, 3)));
  CHECK_THROWS_WITH_AS(make_mlp(spec, {.skip = "valeus"}, 1), doctest::Contains("'values'"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(make_mlp(spec, {.skip = "clock"}, 1), doctest::Contains("2 numbers"),
                       ConfigError);
}

TEST_CASE("without a graph the skipped part counts the same") {
  const EnvSpec spec{Layout({{"clock", {2}}, {"values", {3}}}), Discrete{3}, 0};
  for (const bool shared : {false, true}) {
    const NetConfig config{
        .hidden = {8}, .shared_trunk = shared, .skip = "values", .skip_scale = -2};
    Policy policy([&] { return make_mlp(spec, config, 1); }, 1, at::kCPU, Fusion::always);
    const at::Tensor obs = at::randn({70, 5});
    at::Tensor params = at::empty({70, 3});
    policy.infer(0, {.num_rows = 70,
                     .obs = {obs.data_ptr<float>(), 350},
                     .params = {params.data_ptr<float>(), 210}});
    const at::Tensor eager = policy.replica(0).forward({obs, {}}, Want::policy).params.detach();
    CHECK(at::allclose(params, eager, 1e-5, 1e-5));
  }
}
