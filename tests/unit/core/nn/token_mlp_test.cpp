#include "penstock/core/nn/token_mlp.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/store/temporary_folder.h"

namespace token_mlp_test {

using namespace penstock;

namespace {

EnvSpec token_spec(std::int64_t tokens) {
  return {Layout({{"tokens", {tokens, 5}}}),
          MultiDiscrete{std::vector<std::int64_t>(static_cast<std::size_t>(tokens), 3), true}, 0};
}

/// Rows with some tokens absent.
at::Tensor token_rows(std::int64_t rows, std::int64_t tokens) {
  at::Tensor obs = at::randn({rows, tokens, 5});
  obs.select(2, 0).fill_(1);
  obs.index({0, 1}).zero_();
  obs.index({2}).zero_();  // nobody is there
  return obs.view({rows, tokens * 5});
}

}  // namespace

TEST_CASE("a token decides its own choice alone, and all tokens share the weights") {
  const auto network = make_token_mlp(token_spec(4), {}, 1);
  const at::Tensor obs = token_rows(6, 4);
  const NetworkOutput before = network->forward({obs, {}}, Outputs::both);
  CHECK(before.params.sizes() == at::IntArrayRef({6, 12}));
  CHECK(before.params.index({0}).slice(0, 3, 6).eq(0).all().item<bool>());  // absent
  CHECK(before.value[2].item<float>() == 0);

  at::Tensor changed = obs.clone();
  changed.select(1, 7).add_(1);  // a number of token 1
  const at::Tensor after = network->forward({changed, {}}, Outputs::policy).params;
  CHECK(at::equal(after.slice(1, 0, 3), before.params.slice(1, 0, 3)));
  CHECK(!at::equal(after.slice(1, 3, 6), before.params.slice(1, 3, 6)));
  CHECK(at::equal(after.slice(1, 6, 12), before.params.slice(1, 6, 12)));

  const at::Tensor swapped = obs.view({6, 4, 5}).flip(1).reshape({6, 20});
  const NetworkOutput other = network->forward({swapped, {}}, Outputs::both);
  CHECK(at::allclose(other.params.view({6, 4, 3}).flip(1), before.params.view({6, 4, 3})));
  CHECK(at::allclose(other.value, before.value));

  // The weights are those of any number of tokens.
  CHECK(make_token_mlp(token_spec(9), {}, 1)->parameters().size() == network->parameters().size());
}

TEST_CASE("the actor without libtorch says what the network says, from a file too") {
  const EnvSpec spec = token_spec(4);
  const NetConfig config{.hidden = {16, 16}, .start_action = 1, .start_bias = 1};
  const Policy policy([&] { return make_token_mlp(spec, config, 3); }, 1, at::kCPU,
                      Fusion::when_fit);
  CHECK(!policy.is_fused());  // the learner keeps its graph
  const auto shape = policy.shape(spec, make_action_head(spec.action, false), 0);
  REQUIRE(shape->mlp);
  const TemporaryFolder folder;
  const std::string path = folder / "policy.safetensors";
  policy.publish(shape, {})->save(path);
  const auto actor = make_actor(PolicyModel::load(path));

  const at::Tensor obs = token_rows(70, 4);  // more than a chunk
  const auto network = make_token_mlp(spec, config, 3);
  const NetworkOutput expected = network->forward({obs, {}}, Outputs::both);
  std::vector<std::int64_t> choices(70 * 4);
  std::vector<float> value(70);
  actor->act({.count = 70, .obs = std::span(obs.data_ptr<float>(), 70 * 20)},
             {.choices = choices, .value = value});
  const at::Tensor best = expected.params.view({70, 4, 3}).argmax(2).view({-1});
  for (std::size_t i = 0; i < choices.size(); ++i) {
    CHECK(choices[i] == best[static_cast<std::int64_t>(i)].item<std::int64_t>());
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    CHECK(
        value[i] ==
        doctest::Approx(expected.value[static_cast<std::int64_t>(i)].item<float>()).epsilon(1e-4));
  }
}

TEST_CASE("what is not a list of tokens with a choice each is refused") {
  const EnvSpec flat{Layout(20), MultiDiscrete{{3, 3, 3, 3}}, 0};
  const EnvSpec one{Layout({{"tokens", {4, 5}}}), Discrete{3}, 0};
  const EnvSpec uneven{Layout({{"tokens", {2, 5}}}), MultiDiscrete{{3, 4}}, 0};
  for (const EnvSpec& spec : {flat, one, uneven}) {
    CHECK_THROWS_AS(make_token_mlp(spec, {}, 1), ConfigError);
  }
}

}  // namespace token_mlp_test
