#include "penstock/core/nn/transformer.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/core/base/errors.h"

namespace transformer_test {

using namespace penstock;

namespace {

const NetConfig kSmall{.width = 16, .layers = 2, .heads = 2};

}  // namespace

TEST_CASE("a transformer takes features or the rows of a part as tokens") {
  const EnvSpec flat{Layout(6), Discrete{3}, 0};
  const EnvSpec rows{Layout({{"clock", {1}}, {"jobs", {4, 5}}}), Discrete{3}, 0};
  for (const EnvSpec& spec : {flat, rows}) {
    const auto network = make_transformer(spec, kSmall, 1);
    const Observation batch{at::randn({7, static_cast<std::int64_t>(spec.obs.size())}), {}};
    const NetworkOutput out = network->forward(batch, Outputs::both);
    CHECK(out.params.sizes() == at::IntArrayRef({7, 3}));
    CHECK(out.value.sizes() == at::IntArrayRef({7}));
    CHECK(!network->forward(batch, Outputs::policy).value.defined());
    (out.params.sum() + out.value.sum()).backward();
    for (const auto& parameter : network->parameters()) {
      CAPTURE(parameter.first);
      CHECK(parameter.second.grad().defined());
    }
  }
}

TEST_CASE("every token matters, and so does every number of the other parts") {
  const EnvSpec spec{Layout({{"clock", {2}}, {"tokens", {4, 5}}, {"chances", {3}}}), Discrete{3},
                     0};
  const auto network = make_transformer(spec, kSmall, 1);
  const at::Tensor obs = at::randn({8, 25});
  const NetworkOutput before = network->forward({obs, {}}, Outputs::both);
  for (std::int64_t f = 0; f < 25; ++f) {
    CAPTURE(f);
    at::Tensor changed = obs.clone();
    changed.select(1, f).add_(1);
    const NetworkOutput after = network->forward({changed, {}}, Outputs::both);
    CHECK(!at::equal(after.value, before.value));
    CHECK(!at::equal(after.params, before.params));
  }
}

TEST_CASE("the part called tokens is attended over, wherever it stands") {
  const auto shape_of = [](const EnvSpec& spec, const std::string& wanted) {
    for (const auto& [name, parameter] : make_transformer(spec, kSmall, 1)->parameters()) {
      if (name == wanted) { return parameter.sizes().vec(); }
    }
    return std::vector<std::int64_t>();
  };
  const EnvSpec spec{Layout({{"map", {7, 2}}, {"tokens", {4, 5}}, {"belief", {4}}}), Discrete{3},
                     0};
  CHECK(shape_of(spec, "place") == std::vector<std::int64_t>{4, 16});
  CHECK(shape_of(spec, "embed.weight") == std::vector<std::int64_t>{16, 5});
  CHECK(shape_of(spec, "mix.weight") == std::vector<std::int64_t>{16, 16 + 14 + 4});
  const EnvSpec alone{Layout({{"tokens", {4, 5}}}), Discrete{3}, 0};
  CHECK(shape_of(alone, "mix.weight").empty());
}

TEST_CASE("without places, neither the order nor the number of tokens matters") {
  NetConfig config = kSmall;
  config.places = false;
  const EnvSpec few{Layout({{"tokens", {4, 5}}, {"belief", {4}}}), Discrete{3}, 0};
  const EnvSpec many{Layout({{"tokens", {8, 5}}, {"belief", {4}}}), Discrete{3}, 0};
  const auto network = make_transformer(few, config, 1);
  const auto wider = make_transformer(many, config, 1);
  const auto weights = network->parameters();
  const auto same = wider->parameters();
  REQUIRE(weights.size() == same.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK(weights[i].first == same[i].first);
    CHECK(at::equal(weights[i].second, same[i].second));
  }
  const at::Tensor tokens = at::randn({6, 4, 5});
  const at::Tensor belief = at::randn({6, 4});
  const auto row = [&](const at::Tensor& of) { return at::cat({of.flatten(1), belief}, 1); };
  const at::Tensor once = network->forward({row(tokens), {}}, Outputs::policy).params;
  const at::Tensor turned = network->forward({row(tokens.flip(1)), {}}, Outputs::policy).params;
  CHECK(at::allclose(turned, once, 1e-4, 1e-6));
  // Everybody twice: attention and mean weigh them as before.
  const at::Tensor twice =
      wider->forward({row(at::cat({tokens, tokens}, 1)), {}}, Outputs::policy).params;
  CHECK(at::allclose(twice, once, 1e-4, 1e-6));
}

TEST_CASE("what a pass keeps counts the other parts") {
  const EnvSpec alone{Layout({{"tokens", {4, 5}}}), Discrete{3}, 0};
  const EnvSpec more{Layout({{"tokens", {4, 5}}, {"savings", {1000}}}), Discrete{3}, 0};
  const std::int64_t tokens = make_transformer(alone, kSmall, 1)->floats_per_row();
  CHECK(make_transformer(more, kSmall, 1)->floats_per_row() == tokens + 1000 + 3 * 16);
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

TEST_CASE("a token without a name has no influence") {
  Layout layout({{"clock", {1}}});
  layout.append("lines", {4, 3}, {{0, "zone", 9}});
  const auto network = make_transformer({layout, Discrete{3}, 0}, kSmall, 1);
  at::Tensor rows = at::rand({8, 13});
  const at::Tensor line = rows.narrow(1, 1, 12).view({8, 4, 3}).select(1, 2);
  const at::Tensor named = network->forward({rows, {}}, Outputs::value).value;
  line.select(1, 0).fill_(-1);
  const at::Tensor before = network->forward({rows, {}}, Outputs::value).value;
  line.narrow(1, 1, 2).add_(5);
  CHECK(at::equal(network->forward({rows, {}}, Outputs::value).value, before));
  CHECK_FALSE(at::equal(named, before));
  rows.narrow(1, 1, 12).fill_(-1);  // no line at all
  CHECK(network->forward({rows, {}}, Outputs::value).value.isfinite().all().item<bool>());
}

}  // namespace transformer_test
