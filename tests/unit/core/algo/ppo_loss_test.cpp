#include "penstock/core/algo/ppo_loss.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>

namespace ppo_loss_test {

using namespace penstock;

TEST_CASE("before the first update the ratio is one and nothing is clipped") {
  const auto log_prob = at::randn({64}).set_requires_grad(true);
  const auto advantage = at::randn({64});
  const auto zero = at::zeros({64});
  const PpoLoss loss = ppo_loss({.log_prob = log_prob,
                                 .old_log_prob = log_prob.detach(),
                                 .advantage = advantage,
                                 .entropy = zero},
                                {});
  loss.total.backward();
  CHECK(at::allclose(log_prob.grad(), -advantage / 64));  // the plain policy gradient
  CHECK(loss.approx_kl.item<double>() == doctest::Approx(0.0));
  CHECK(loss.clip_fraction.item<double>() == 0.0);
}

TEST_CASE("a ratio beyond the clip has no gradient where moving further would pay") {
  const auto old = at::zeros({4});
  const auto log_prob = at::log(at::tensor({1.5F, 1.5F, 0.5F, 0.5F})).set_requires_grad(true);
  const auto advantage = at::tensor({1.0F, -1.0F, 1.0F, -1.0F});
  const PpoLoss loss =
      ppo_loss({.log_prob = log_prob, .old_log_prob = old, .advantage = advantage, .entropy = old},
               {.clip = 0.2});
  loss.total.backward();
  CHECK(at::allclose(log_prob.grad(), at::tensor({0.0F, 1.5F / 4, -0.5F / 4, 0.0F})));
  CHECK(loss.policy.item<double>() == doctest::Approx(-(1.2 - 1.5 + 0.5 - 0.8) / 4));
  CHECK(loss.clip_fraction.item<double>() == doctest::Approx(1.0));
}

TEST_CASE("weights of value and entropy, and the value clip") {
  const auto value = at::tensor({1.0F, 4.0F});
  const PpoTerms terms{.log_prob = at::zeros({2}),
                       .old_log_prob = at::zeros({2}),
                       .advantage = at::zeros({2}),
                       .entropy = at::tensor({0.5F, 1.5F}),
                       .value = value,
                       .old_value = at::zeros({2}),
                       .target = at::tensor({0.0F, 4.0F})};
  const PpoLoss plain = ppo_loss(terms, {.value_weight = 0.5, .entropy_weight = 0.1});
  CHECK(plain.value.item<double>() == doctest::Approx(0.5));
  CHECK(plain.total.item<double>() == doctest::Approx(0.25 - 0.1));
  const PpoLoss clipped = ppo_loss(terms, {.value_clip = 1.0});
  CHECK(clipped.value.item<double>() == doctest::Approx((1.0 + 9.0) / 2));
}

TEST_CASE("what is left out is left out") {
  const PpoLoss value_only =
      ppo_loss({.value = at::ones({3}), .target = at::zeros({3})}, {.value_weight = 2});
  CHECK(value_only.total.item<double>() == doctest::Approx(2.0));
  CHECK(!value_only.policy.defined());
}

}  // namespace ppo_loss_test
