#include "penstock/core/act/actor.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "penstock/core/base/errors.h"
#include "support.h"

namespace penstock {
namespace {

using test::linear_shape;
using test::Weights;

EnvSpec three_choices() { return {.obs = Layout(2), .action = Discrete{3, true}}; }

/// logits = (x0, x1, 1), value = x0 - x1.
std::shared_ptr<const PolicyModel> simple_model(double clip_obs = 0, std::int64_t version = 7) {
  const auto shape = linear_shape(three_choices(), false, clip_obs);
  Weights weights{*shape};
  weights.set("actor.0.weight", {1, 0, 0, 1, 0, 0});
  weights.set("actor.0.bias", {0, 0, 1});
  weights.set("critic.0.weight", {1, -1});
  ObsNormaliser normaliser;
  if (clip_obs > 0) {
    normaliser = ObsNormaliser(shape->spec.obs, clip_obs);
    normaliser.set_moments({{4, 10, 16}, {4, 0, 4}});  // deviations 2 and 1
  }
  return std::make_shared<PolicyModel>(shape, weights.flat, normaliser, version);
}

TEST_CASE("the most likely action is the largest logit among the legal ones") {
  const auto actor = make_actor(simple_model());
  const std::array<float, 6> obs = {3, 2, 0, 2, -1, -1};
  std::array<std::int64_t, 3> choices{};
  std::array<float, 3> value{};
  actor->act({.count = 3, .obs = obs}, {.choices = choices, .value = value});
  CHECK(choices == std::array<std::int64_t, 3>{0, 1, 2});
  CHECK(value == std::array<float, 3>{1, -2, 0});

  const std::array<bool, 3> legal = {false, true, true};
  actor->act({.count = 1, .obs = std::span(obs).first(2), .legal = legal},
             {.choices = std::span(choices).first(1)});
  CHECK(choices[0] == 1);
}

TEST_CASE("drawn actions have the probabilities of the softmax, and tell their logarithm") {
  const auto actor = make_actor(simple_model());
  const std::array<float, 2> obs = {2, 1};  // logits 2, 1, 1
  const double total = std::exp(2.0) + 2 * std::exp(1.0);
  const std::array<double, 3> probability = {std::exp(2.0) / total, std::exp(1.0) / total,
                                             std::exp(1.0) / total};
  std::array<int, 3> counts{};
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    std::int64_t choice = 0;
    float log_prob = 0;
    const ActionNoise noise{.seed = 1, .first_env = 0, .step = static_cast<std::uint64_t>(i)};
    actor->act({.count = 1, .obs = obs}, {.choices = {&choice, 1}, .log_prob = {&log_prob, 1}},
               &noise);
    ++counts[static_cast<std::size_t>(choice)];
    CHECK(log_prob == doctest::Approx(std::log(probability[static_cast<std::size_t>(choice)])));
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const double sigma = std::sqrt(probability[a] * (1 - probability[a]) * kDraws);
    CHECK(std::abs(counts[a] - probability[a] * kDraws) < 4 * sigma);
  }
}

TEST_CASE(
    "raw rows are normalised and left alone; rows that were normalised are used as they are") {
  const auto actor = make_actor(simple_model(5));
  const std::array<float, 2> raw = {14, 1};  // 2 and 1 deviations above the mean
  float value = 0;
  actor->act({.count = 1, .obs = raw}, {.value = {&value, 1}});
  CHECK(value == doctest::Approx(1.0));
  CHECK(raw == std::array<float, 2>{14, 1});
  actor->act({.count = 1, .obs = raw, .normalised = true}, {.value = {&value, 1}});
  CHECK(value == doctest::Approx(13.0));
  const std::array<float, 2> far = {1000, 0};
  actor->act({.count = 1, .obs = far}, {.value = {&value, 1}});
  CHECK(value == doctest::Approx(5.0));  // clipped
}

TEST_CASE("an actor acts with the version that it adopted last") {
  const auto first = simple_model();
  const auto actor = make_actor(first);
  Weights weights{first->shape()};
  weights.set("critic.0.bias", {42});
  const auto shape = std::make_shared<PolicyShape>(first->shape());
  actor->adopt(std::make_shared<PolicyModel>(shape, weights.flat, ObsNormaliser(), 8));
  CHECK(actor->model().version() == 8);
  const std::array<float, 2> obs = {3, 2};
  float value = 0;
  actor->act({.count = 1, .obs = obs}, {.value = {&value, 1}});
  CHECK(value == 42);
}

TEST_CASE("a point is squashed into the box, or clipped to it") {
  const EnvSpec spec{.obs = Layout(1), .action = Box{{-2}, {4}}};
  for (const bool squash : {true, false}) {
    const auto shape = linear_shape(spec, squash);
    Weights weights{*shape};
    weights.set("actor.0.weight", {1});
    const auto actor =
        make_actor(std::make_shared<PolicyModel>(shape, weights.flat, ObsNormaliser(), 0));
    const float obs = 5;
    float point = 0;
    float env_point = 0;
    actor->act({.count = 1, .obs = {&obs, 1}},
               {.points = {&point, 1}, .env_points = {&env_point, 1}});
    CHECK(point == 5);
    CHECK(env_point == doctest::Approx(squash ? 1 + 3 * std::tanh(5.0) : 4.0));
    env_point = 0;
    actor->act({.count = 1, .obs = {&obs, 1}}, {.env_points = {&env_point, 1}});
    CHECK(env_point == doctest::Approx(squash ? 1 + 3 * std::tanh(5.0) : 4.0));
  }
}

TEST_CASE("a row with nothing legal is refused by its number") {
  const auto actor = make_actor(simple_model());
  const std::array<float, 2> obs = {3, 2};
  const std::array<bool, 3> legal{};
  std::int64_t choice = 0;
  const ActionNoise noise{.seed = 1, .first_env = 17, .step = 0};
  CHECK_THROWS_WITH_AS(
      actor->act({.count = 1, .obs = obs, .legal = legal}, {.choices = {&choice, 1}}, &noise),
      doctest::Contains("env 17: no action is legal"), DataError);
}

TEST_CASE("a network that needs libtorch says so") {
  const auto mlp = linear_shape(three_choices());
  auto shape = std::make_shared<PolicyShape>(*mlp);
  shape->mlp.reset();
  const std::vector<float> weights(static_cast<std::size_t>(shape->num_floats));
  const auto model = std::make_shared<PolicyModel>(shape, weights, ObsNormaliser(), 0);
  CHECK_THROWS_WITH_AS(make_actor(model), doctest::Contains("needs libtorch"), DataError);
}

}  // namespace
}  // namespace penstock
