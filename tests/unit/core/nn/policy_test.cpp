#include "penstock/core/nn/policy.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "penstock/core/act/actor.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/mlp.h"
#include "penstock/core/nn/transformer.h"

namespace policy_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(5), Discrete{3}, 0};

Policy make(const NetConfig& net, Fusion fusion, const EnvSpec& spec = kSpec) {
  return Policy([net, spec] { return make_mlp(spec, net, 1); }, 1, at::kCPU, fusion);
}

struct Inferred {
  std::vector<float> params;
  std::vector<float> value;
};

Inferred infer(Policy& policy, const std::vector<float>& obs, std::size_t rows,
               std::size_t num_params) {
  Inferred out{std::vector<float>(rows * num_params), std::vector<float>(rows)};
  if (policy.is_fused()) {
    policy.fused(0).infer(obs.data(), rows, out.params.data(), out.value.data());
    return out;
  }
  const auto n = static_cast<std::int64_t>(rows);
  const at::Tensor batch = at::tensor(obs).view({n, -1});
  const NetworkOutput said = policy.replica(0).forward({batch, {}}, Outputs::both);
  const at::Tensor params = said.params.detach().contiguous();
  const at::Tensor value = said.value.detach().contiguous();
  std::copy_n(params.data_ptr<float>(), out.params.size(), out.params.begin());
  std::copy_n(value.data_ptr<float>(), out.value.size(), out.value.begin());
  return out;
}

std::vector<float> random_rows(std::size_t count) {
  at::manual_seed(3);
  const at::Tensor x = at::randn({static_cast<std::int64_t>(count)});
  return {x.data_ptr<float>(), x.data_ptr<float>() + count};
}

}  // namespace

TEST_CASE("a fused policy computes what the eager one does, and follows the weights") {
  constexpr std::size_t kRows = 150;
  const EnvSpec box{Layout(5), Box{{-1, -1}, {1, 1}}, 0};
  const std::vector<float> obs = random_rows(kRows * 5);
  for (const EnvSpec& spec : {kSpec, box}) {
    for (const std::vector<std::int64_t>& hidden :
         {std::vector<std::int64_t>{}, {7}, {64, 64}, {33, 20, 5}}) {
      for (const bool shared : {false, true}) {
        const NetConfig net{.hidden = hidden, .shared_trunk = shared};
        Policy fused = make(net, Fusion::always, spec);
        Policy eager = make(net, Fusion::never, spec);
        const std::size_t num_params = spec.action.continuous() ? 4 : 3;
        for (int change = 0; change < 2; ++change) {
          const Inferred a = infer(fused, obs, kRows, num_params);
          const Inferred b = infer(eager, obs, kRows, num_params);
          CHECK(at::allclose(at::tensor(a.params), at::tensor(b.params), 1e-5, 1e-6));
          CHECK(at::allclose(at::tensor(a.value), at::tensor(b.value), 1e-5, 1e-6));
          for (Policy* policy : {&fused, &eager}) {
            policy->weights().mul_(1.5);
            policy->weights_changed();
          }
        }
      }
    }
  }
}

TEST_CASE("a fused policy computes each row as if it were alone") {
  constexpr std::size_t kRows = 130;
  Policy policy = make({.hidden = {64, 48}}, Fusion::always);
  const std::vector<float> obs = random_rows(kRows * 5);
  const Inferred together = infer(policy, obs, kRows, 3);
  for (std::size_t r = 0; r < kRows; ++r) {
    const std::vector<float> row(obs.begin() + static_cast<std::ptrdiff_t>(r * 5),
                                 obs.begin() + static_cast<std::ptrdiff_t>(r * 5 + 5));
    const Inferred alone = infer(policy, row, 1, 3);
    REQUIRE(std::memcmp(alone.params.data(), together.params.data() + r * 3, 3 * 4) == 0);
    REQUIRE(alone.value[0] == together.value[r]);
  }
}

TEST_CASE("small networks are fused where they may be, large ones and others are not") {
  CHECK(make({}, Fusion::when_fit).is_fused());
  CHECK(!make({}, Fusion::never).is_fused());
  CHECK(!make({.hidden = {1024, 1024}}, Fusion::when_fit).is_fused());
  CHECK(make({.hidden = {1024, 1024}}, Fusion::always).is_fused());
  const auto transformer = [](Fusion fusion) {
    return Policy([] { return make_transformer(kSpec, {}, 1); }, 1, at::kCPU, fusion);
  };
  CHECK(!transformer(Fusion::when_fit).is_fused());
  CHECK_THROWS_AS(transformer(Fusion::always), ConfigError);
}

TEST_CASE("what is published acts as the learner computes, and stays as it was") {
  const std::vector<float> obs = random_rows(5);
  for (const Fusion fusion : {Fusion::always, Fusion::never}) {
    Policy policy = make({.hidden = {64, 48}}, fusion);
    policy.set_version(3);
    const std::shared_ptr<const ActionHead> head = make_action_head(kSpec.action, false);
    const auto shape = policy.shape(kSpec, head, 0);
    const auto actor = make_actor(policy.publish(shape, {}));
    CHECK(actor->model().version() == 3);
    CHECK(actor->rows_are_independent() == (fusion == Fusion::always));
    const Inferred expected = infer(policy, obs, 1, 3);
    const auto value_of = [&] {
      float value = 0;
      actor->act({.count = 1, .obs = obs}, {.value = {&value, 1}});
      return value;
    };
    CHECK(value_of() == expected.value[0]);

    policy.weights().mul_(1.5);  // the learner moves on, the version does not
    policy.weights_changed();
    CHECK(value_of() == expected.value[0]);
    actor->adopt(policy.publish(shape, {}));
    CHECK(value_of() == infer(policy, obs, 1, 3).value[0]);
    CHECK(value_of() != expected.value[0]);
  }
}

namespace {

/// A network whose value counts the legal actions.
class CountsLegal final : public Network {
 public:
  NetworkOutput forward(const Observation& batch, Outputs) override {
    const at::Tensor legal = batch.legal.to(at::kFloat);  // throws where it is undefined
    return {legal * weight_, legal.sum(1) * weight_};
  }
  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    return {{"weight", weight_}};
  }

 private:
  at::Tensor weight_ = at::ones({1}).set_requires_grad(true);
};

}  // namespace

TEST_CASE(
    "a network of a masked env always gets a mask, also for the value of a row that was cut off") {
  const EnvSpec masked{Layout(2), Discrete{3, true}, 0};
  const Policy policy([] { return std::make_unique<CountsLegal>(); }, 1, at::kCPU);
  const std::shared_ptr<const ActionHead> head = make_action_head(masked.action, false);
  const auto actor = make_actor(policy.publish(policy.shape(masked, head, 0), {}));
  const std::vector<float> obs = {0, 0};
  const std::array<bool, 3> legal = {true, false, true};
  float value = 0;
  actor->act({.count = 1, .obs = obs, .legal = legal}, {.value = {&value, 1}});
  CHECK(value == 2);
  actor->act({.count = 1, .obs = obs}, {.value = {&value, 1}});
  CHECK(value == 3);
}

}  // namespace policy_test
