#include "penstock/nn/policy.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cstring>

#include "penstock/base/errors.h"
#include "penstock/nn/mlp.h"
#include "penstock/nn/transformer.h"

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(5), Discrete{3}, 0};

Policy make(const NetConfig& net, Fusion fusion, const EnvSpec& spec = kSpec) {
  return Policy([&] { return make_mlp(spec, net, 1); }, 1, at::kCPU, fusion);
}

struct Inferred {
  std::vector<float> params;
  std::vector<float> value;
};

Inferred infer(Policy& policy, const std::vector<float>& obs, std::size_t rows,
               std::size_t num_params) {
  Inferred out{std::vector<float>(rows * num_params), std::vector<float>(rows)};
  policy.infer(0, {.num_rows = rows, .obs = obs, .params = out.params, .value = out.value});
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
