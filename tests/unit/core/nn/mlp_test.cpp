#include "penstock/core/nn/mlp.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/core/base/errors.h"
#include "penstock/core/nn/policy.h"

namespace mlp_test {

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
    for (const char* activation : {"tanh", "relu", "elu", "gelu", "silu"}) {
      const auto network =
          make_mlp(kSpec, {.hidden = {8, 4}, .activation = activation, .shared_trunk = shared}, 1);
      const Observation batch{at::randn({7, 5}), {}};
      const NetworkOutput both = network->forward(batch, Outputs::both);
      CHECK(both.params.sizes() == at::IntArrayRef({7, 3}));
      CHECK(both.value.sizes() == at::IntArrayRef({7}));
      CHECK(at::equal(network->forward(batch, Outputs::value).value, both.value));
      CHECK(!network->forward(batch, Outputs::policy).value.defined());
    }
  }
}

TEST_CASE("box actions get a log deviation of their own") {
  const auto network =
      make_mlp({Layout(2), Box{{-1, -1}, {1, 1}}, 0}, {.hidden = {4}, .log_std_init = -0.5}, 1);
  const auto params = network->forward({at::zeros({3, 2}), {}}, Outputs::policy).params;
  CHECK(params.sizes() == at::IntArrayRef({3, 4}));
  CHECK(at::allclose(params.narrow(1, 2, 2), at::full({3, 2}, -0.5F)));
}

TEST_CASE("replicas read one set of weights and fill their own flat gradient") {
  Policy policy([] { return make_mlp(kSpec, {.hidden = {6}}, 1); }, 2, at::kCPU);
  const Observation batch{at::randn({4, 5}), {}};
  policy.replica(0).forward(batch, Outputs::both).value.sum().backward();
  CHECK(policy.gradient(0).abs().sum().item<float>() > 0);
  CHECK(policy.gradient(1).abs().sum().item<float>() == 0);

  const at::Tensor before = policy.replica(1).forward(batch, Outputs::both).params;
  policy.weights().mul_(2);
  CHECK(!at::equal(policy.replica(1).forward(batch, Outputs::both).params, before));
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
  const at::Tensor without = make_mlp(spec, plain, 1)->forward({obs, {}}, Outputs::policy).params;
  const at::Tensor with = make_mlp(spec, skipping, 1)->forward({obs, {}}, Outputs::policy).params;
  CHECK(at::allclose(with, without + 5 * obs.narrow(1, 2, 3)));
  CHECK_THROWS_WITH_AS(make_mlp(spec, {.skip = "valeus"}, 1), doctest::Contains("'values'"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(make_mlp(spec, {.skip = "clock"}, 1), doctest::Contains("2 numbers"),
                       ConfigError);
}

TEST_CASE("a policy may begin by preferring one action, and learns from there") {
  const NetConfig config{.hidden = {8}, .start_action = 2, .start_bias = 3};
  auto plain = by_name(*make_mlp(kSpec, {.hidden = {8}}, 1));
  const auto network = make_mlp(kSpec, config, 1);
  auto started = by_name(*network);
  CHECK(at::equal(started["actor.0.weight"], plain["actor.0.weight"]));
  CHECK(at::equal(started["actor.1.bias"], at::tensor({0.0F, 0.0F, 3.0F})));
  CHECK(started["actor.1.bias"].requires_grad());
  CHECK(started["critic.1.bias"].item<float>() == 0);
  const at::Tensor logits = network->forward({at::randn({50, 5}), {}}, Outputs::policy).params;
  CHECK(at::equal(logits.argmax(1), at::full({50}, 2)));
  CHECK_THROWS_WITH_AS(make_mlp(kSpec, {.start_action = 3}, 1), doctest::Contains("3 actions"),
                       ConfigError);
  const EnvSpec pairs{Layout(5), MultiDiscrete{{2, 2}}, 0};
  CHECK_THROWS_WITH_AS(make_mlp(pairs, {.start_action = 0}, 1), doctest::Contains("no single list"),
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
    policy.fused(0).infer(obs.data_ptr<float>(), 70, params.data_ptr<float>(), nullptr);
    const at::Tensor eager = policy.replica(0).forward({obs, {}}, Outputs::policy).params.detach();
    CHECK(at::allclose(params, eager, 1e-5, 1e-5));
  }
}

namespace {

/// A clock, lines of [zone, hour, zone] and things counted.
EnvSpec names_and_counts(bool names, bool counts) {
  Layout layout({{"clock", {2}}});
  if (names) { layout.append("lines", {4, 3}, {{0, "zone", 9}, {2, "zone", 9}}); }
  if (counts) { layout.append_counts("seen", {6, 2}, 5); }
  return {layout, Discrete{3}, 0};
}

at::Tensor lines_of(const at::Tensor& rows) { return rows.narrow(1, 2, 12).view({-1, 4, 3}); }

at::Tensor rows_with_names(std::int64_t count) {
  at::Tensor rows = at::randn({count, 14});
  lines_of(rows).select(2, 0).copy_(at::randint(0, 9, {count, 4}));
  lines_of(rows).select(2, 2).copy_(at::randint(0, 9, {count, 4}));
  return rows;
}

}  // namespace

TEST_CASE("a network that counts computes what the full features give, with and without a graph") {
  const EnvSpec spec = names_and_counts(false, true);
  const EnvSpec full{Layout(14), Discrete{3}, 0};
  at::Tensor rows = at::randn({70, 7});
  rows.narrow(1, 2, 5).copy_(at::randint(-1, 12, {70, 5}));
  const at::Tensor features = features_of(spec.obs, rows);
  CHECK(features.sizes() == at::IntArrayRef({70, 14}));
  for (const bool shared : {false, true}) {
    const NetConfig config{.hidden = {8, 5}, .shared_trunk = shared};
    Policy policy([&] { return make_mlp(spec, config, 1); }, 1, at::kCPU, Fusion::when_fit);
    CHECK(policy.is_fused());
    const auto plain = make_mlp(full, config, 1);
    auto a = by_name(policy.replica(0));
    auto b = by_name(*plain);
    CHECK(a.size() == b.size());
    for (const auto& [name, weight] : b) {
      CHECK(at::equal(a.at(name), weight));
    }  // they start the same
    const at::Tensor expected = plain->forward({features, {}}, Outputs::policy).params;
    const at::Tensor eager = policy.replica(0).forward({rows, {}}, Outputs::policy).params;
    CHECK(at::allclose(eager, expected, 1e-5, 1e-7));
    at::Tensor fused = at::empty({70, 3});
    policy.fused(0).infer(rows.data_ptr<float>(), 70, fused.data_ptr<float>(), nullptr);
    CHECK(at::allclose(fused, expected, 1e-5, 1e-7));
  }
}

TEST_CASE("names are looked up: their numbering does not matter, and no name is nothing") {
  const EnvSpec spec = names_and_counts(true, false);
  const auto network = make_mlp(spec, {.hidden = {8}, .name_width = 4}, 1);
  auto p = by_name(*network);
  CHECK(p["table.zone"].sizes() == at::IntArrayRef({9, 4}));
  CHECK(p["actor.0.weight"].size(1) == 2 + 4 * (4 + 1 + 4));
  const at::Tensor rows = rows_with_names(20);
  const at::Tensor before = network->forward({rows, {}}, Outputs::both).params.detach();

  // Other numbers for the same zones, and the table's rows moved along.
  const at::Tensor order = at::randperm(9, at::kLong);
  at::Tensor renamed = rows.clone();
  for (const std::int64_t column : {0, 2}) {
    const at::Tensor names = lines_of(renamed).select(2, column);
    names.copy_(order.take(names.to(at::kLong)));
  }
  at::Tensor& table = p["table.zone"];
  const at::Tensor kept = table.detach().clone();
  table.set_data(at::empty_like(kept).index_copy(0, order, kept));
  CHECK(at::equal(network->forward({renamed, {}}, Outputs::both).params, before));
  CHECK_FALSE(at::equal(network->forward({rows, {}}, Outputs::both).params, before));

  // A blank line is zeros, whatever the table holds.
  at::Tensor blank = rows.clone();
  lines_of(blank).select(1, 3).zero_();
  lines_of(blank).select(1, 3).select(1, 0).fill_(-1);
  lines_of(blank).select(1, 3).select(1, 2).fill_(-1);
  const at::Tensor out = network->forward({blank, {}}, Outputs::both).params;
  out.sum().backward();
  const at::Tensor of_line = p["actor.0.weight"].grad().narrow(1, 2 + 3 * 9, 9);
  CHECK(of_line.abs().max().item<float>() == 0);
}

TEST_CASE("a gradient reaches only the names that were looked up") {
  const EnvSpec spec = names_and_counts(true, true);
  const auto network = make_mlp(spec, {.hidden = {8}}, 1);
  at::Tensor rows = at::full({3, 19}, -1.0F);
  lines_of(rows)[1][2][0] = 4;
  lines_of(rows)[2][0][2] = 7;
  network->forward({rows, {}}, Outputs::value).value.sum().backward();
  const at::Tensor touched = by_name(*network)["table.zone"].grad().abs().sum(1);
  for (std::int64_t name = 0; name < 9; ++name) {
    CHECK((touched[name].item<float>() > 0) == (name == 4 || name == 7));
  }
}

TEST_CASE("a network that looks names up is not fused") {
  const auto make = [] { return make_mlp(names_and_counts(true, false), {}, 1); };
  CHECK_FALSE(Policy(make, 1, at::kCPU, Fusion::when_fit).is_fused());
  CHECK_THROWS_WITH_AS(Policy(make, 1, at::kCPU, Fusion::always), doctest::Contains("names"),
                       ConfigError);
}

}  // namespace mlp_test
