#include "penstock/nn/transformer.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/base/errors.h"

using namespace penstock;

namespace {

const NetConfig kSmall{.kind = "transformer", .width = 16, .layers = 2, .heads = 2};

}  // namespace

TEST_CASE("a transformer takes features or the rows of a part as tokens") {
  const EnvSpec flat{Layout(6), Discrete{3}, 0};
  const EnvSpec rows{Layout({{"clock", {1}}, {"jobs", {4, 5}}}), Discrete{3}, 0};
  for (const EnvSpec& spec : {flat, rows}) {
    const auto network = make_transformer(spec, kSmall, 1);
    const Observation batch{at::randn({7, static_cast<std::int64_t>(spec.obs.size())}), {}};
    const NetworkOutput out = network->forward(batch, Want::both);
    CHECK(out.params.sizes() == at::IntArrayRef({7, 3}));
    CHECK(out.value.sizes() == at::IntArrayRef({7}));
    CHECK(!network->forward(batch, Want::policy).value.defined());
    (out.params.sum() + out.value.sum()).backward();
    for (const auto& [name, parameter] : network->parameters()) {
      CAPTURE(name);
      CHECK(parameter.grad().defined());
    }
  }
}

TEST_CASE("every token matters, and what is no token does not") {
  const EnvSpec spec{Layout({{"clock", {1}}, {"jobs", {4, 5}}}), Discrete{3}, 0};
  const auto network = make_transformer(spec, kSmall, 1);
  const at::Tensor obs = at::randn({1, 21});
  const at::Tensor value = network->forward({obs, {}}, Want::value).value;
  for (std::int64_t f = 0; f < 21; ++f) {
    at::Tensor changed = obs.clone();
    changed.select(1, f).add_(1);
    const bool same = at::equal(network->forward({changed, {}}, Want::value).value, value);
    CHECK(same == (f == 0));
  }
}

TEST_CASE("the seed decides a transformer's weights; its shape is checked") {
  const EnvSpec spec{Layout(6), Discrete{3}, 0};
  const auto weights = [&](std::uint64_t seed) {
    std::vector<at::Tensor> all;
    for (const auto& [name, parameter] : make_transformer(spec, kSmall, seed)->parameters()) {
      all.push_back(parameter.flatten());
    }
    return at::cat(all);
  };
  CHECK(at::equal(weights(1), weights(1)));
  CHECK(!at::equal(weights(1), weights(2)));
  CHECK_THROWS_WITH_AS(make_transformer(spec, {.width = 10, .heads = 4}, 1),
                       doctest::Contains("net.heads"), ConfigError);
}
