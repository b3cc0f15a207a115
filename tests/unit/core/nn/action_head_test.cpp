#include "penstock/core/act/action_head.h"

#include <ATen/ATen.h>
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "penstock/core/base/errors.h"
#include "penstock/core/nn/action_terms.h"

namespace action_head_test {

using namespace penstock;

namespace {

struct Drawn {
  std::vector<std::int64_t> choices;
  std::vector<float> points;
  std::vector<float> log_prob;
};

/// The same params (and mask) for `rows` rows.
Drawn draw(const ActionHead& head, const std::vector<float>& params, const std::vector<char>& legal,
           std::size_t rows, std::size_t dims, std::uint64_t step = 0) {
  std::vector<float> all;
  const auto mask = std::make_unique<bool[]>(legal.size() * rows + 1);
  for (std::size_t i = 0; i < rows; ++i) {
    all.insert(all.end(), params.begin(), params.end());
    for (std::size_t a = 0; a < legal.size(); ++a) { mask[i * legal.size() + a] = legal[a] != 0; }
  }
  Drawn out{std::vector<std::int64_t>(rows * dims), std::vector<float>(rows * dims),
            std::vector<float>(rows)};
  head.sample({.params = all,
               .legal = {mask.get(), legal.size() * rows},
               .choices = out.choices,
               .points = out.points,
               .log_prob = out.log_prob},
              {.seed = 7, .first_env = 0, .step = step});
  return out;
}

at::Tensor legal_row(std::vector<std::int64_t> legal) { return at::tensor(legal).to(at::kBool); }

}  // namespace

TEST_CASE("a masked categorical is drawn as often as its probabilities say, never illegally") {
  const auto head = make_action_head(Discrete{4, true}, false);
  const std::vector<float> logits = {0.0F, 1.0F, 5.0F, -1.0F};
  constexpr std::size_t kRows = 200'000;
  const Drawn drawn = draw(*head, logits, {1, 1, 0, 1}, kRows, 1);

  const double total = 1 + std::exp(1.0) + std::exp(-1.0);
  const double expected[] = {1 / total, std::exp(1.0) / total, 0, std::exp(-1.0) / total};
  double counts[4] = {};
  for (const std::int64_t choice : drawn.choices) { counts[choice] += 1; }
  CHECK(counts[2] == 0);
  for (const int a : {0, 1, 3}) {
    const double deviation = std::sqrt(expected[a] * (1 - expected[a]) / kRows);
    CHECK(std::abs(counts[a] / kRows - expected[a]) < 5 * deviation);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(drawn.log_prob[i] == doctest::Approx(std::log(expected[drawn.choices[i]])).epsilon(1e-5));
  }
}

TEST_CASE("evaluate gives the closed-form log-probability and entropy, mask included") {
  const auto head = make_action_head(Discrete{3, true}, false);
  const auto logits = at::tensor({1.0F, 2.0F, 3.0F}).unsqueeze(0);
  const auto legal = legal_row({1, 1, 0}).unsqueeze(0);
  const auto actions = at::tensor({1}, at::kLong).unsqueeze(0);
  const ActionTerms terms = action_terms(*head, logits, actions, legal);
  const double p = 1 / (1 + std::exp(-1.0));
  CHECK(terms.log_prob.item<double>() == doctest::Approx(std::log(p)));
  CHECK(terms.entropy.item<double>() ==
        doctest::Approx(-p * std::log(p) - (1 - p) * std::log(1 - p)));
}

TEST_CASE("an illegal action's logit gets no gradient") {
  const auto head = make_action_head(Discrete{3, true}, false);
  const auto logits = at::randn({5, 3}).set_requires_grad(true);
  const auto legal = legal_row({1, 0, 1}).unsqueeze(0).expand({5, 3});
  const ActionTerms terms = action_terms(*head, logits, at::zeros({5, 1}, at::kLong), legal);
  (terms.log_prob.sum() + terms.entropy.sum()).backward();
  CHECK(logits.grad().select(1, 1).abs().max().item<float>() == 0.0F);
  CHECK(logits.grad().isfinite().all().item<bool>());
}

TEST_CASE("many choices add up, each with its own part of the mask") {
  const auto head = make_action_head(MultiDiscrete{{2, 3}, true}, false);
  const std::vector<float> logits = {0.3F, -0.2F, 1.0F, 0.0F, 2.0F};
  const Drawn drawn = draw(*head, logits, {1, 1, 1, 1, 0}, 1000, 2);
  const auto params = at::tensor(logits).expand({1000, 5});
  const auto actions = at::tensor(drawn.choices, at::kLong).view({1000, 2});
  const auto legal = legal_row({1, 1, 1, 1, 0}).expand({1000, 5});
  const ActionTerms terms = action_terms(*head, params, actions, legal);
  CHECK(at::allclose(terms.log_prob, at::tensor(drawn.log_prob), 1e-5, 1e-6));
  CHECK(actions.select(1, 1).max().item<std::int64_t>() < 2);
}

TEST_CASE("a row without a legal action is an error that names the env") {
  const auto head = make_action_head(Discrete{2, true}, false);
  CHECK_THROWS_WITH_AS(draw(*head, {0, 0}, {0, 0}, 3, 1), doctest::Contains("env 0"), DataError);
  const float nan = std::nanf("");
  CHECK_THROWS_AS(draw(*head, {nan, nan}, {1, 1}, 1, 1), DataError);
}

TEST_CASE("actions depend on env and step, not on who else is drawn") {
  const auto head = make_action_head(Discrete{50}, false);
  const std::vector<float> flat(50, 0.0F);
  const Drawn many = draw(*head, flat, {}, 20, 1);
  const Drawn few = draw(*head, flat, {}, 5, 1);
  CHECK(std::equal(few.choices.begin(), few.choices.end(), many.choices.begin()));
  CHECK(draw(*head, flat, {}, 20, 1, 1).choices != many.choices);
}

TEST_CASE("a Gaussian has the density of the normal distribution") {
  const auto head = make_action_head(Box{{-1}, {1}}, false);
  const auto params = at::tensor({0.5F, std::log(2.0F)}).unsqueeze(0);
  const ActionTerms terms = action_terms(*head, params, at::tensor({1.5F}).unsqueeze(0), {});
  const double z = 0.5;
  CHECK(terms.log_prob.item<double>() ==
        doctest::Approx(-0.5 * z * z - std::log(2.0) - 0.5 * std::log(2 * std::numbers::pi)));
  CHECK(terms.entropy.item<double>() ==
        doctest::Approx(0.5 * std::log(2 * std::numbers::pi * std::numbers::e * 4)));
}

TEST_CASE("a Gaussian's draws have its mean and deviation, and evaluate agrees with them") {
  const auto head = make_action_head(Box{{-9, -9}, {9, 9}}, false);
  const std::vector<float> params = {1.0F, -2.0F, std::log(0.5F), 0.0F};
  const Drawn drawn = draw(*head, params, {}, 100'000, 2);
  const auto points = at::tensor(drawn.points).view({-1, 2}).to(at::kDouble);
  CHECK(at::allclose(points.mean(0), at::tensor({1.0, -2.0}, at::kDouble), 0, 0.02));
  CHECK(at::allclose(points.std(0), at::tensor({0.5, 1.0}, at::kDouble), 0, 0.02));
  const ActionTerms terms = action_terms(*head, at::tensor(params).expand({100'000, 4}),
                                         at::tensor(drawn.points).view({-1, 2}), {});
  CHECK(at::allclose(terms.log_prob, at::tensor(drawn.log_prob), 1e-4, 1e-5));
}

TEST_CASE("a squashed Gaussian's density, over what the env receives, integrates to one") {
  const auto head = make_action_head(Box{{-3}, {5}}, true);
  constexpr int kPoints = 40'000;
  const auto u = at::linspace(-9, 9, kPoints, at::kDouble);
  const auto action = 1 + 4 * u.tanh();
  const auto params = at::tensor({0.3F, -0.2F}).unsqueeze(0).expand({kPoints, 2}).to(at::kDouble);
  const auto density = action_terms(*head, params, u.unsqueeze(1), {}).log_prob.exp();
  const auto widths = action.slice(0, 1) - action.slice(0, 0, -1);
  const auto heights = (density.slice(0, 1) + density.slice(0, 0, -1)) / 2;
  CHECK((widths * heights).sum().item<double>() == doctest::Approx(1.0).epsilon(1e-3));

  const Drawn drawn = draw(*head, {0.3F, -0.2F}, {}, 1000, 1);
  std::vector<float> received(1000);
  head->to_env(drawn.points, received);
  CHECK(*std::min_element(received.begin(), received.end()) >= -3);
  CHECK(*std::max_element(received.begin(), received.end()) <= 5);
  const auto again = action_terms(*head, at::tensor({0.3F, -0.2F}).unsqueeze(0).expand({1000, 2}),
                                  at::tensor(drawn.points).unsqueeze(1), {});
  CHECK(at::allclose(again.log_prob, at::tensor(drawn.log_prob), 1e-4, 1e-4));
}

TEST_CASE("squashing needs a finite box") {
  CHECK_THROWS_AS(make_action_head(Box{{-1}, {INFINITY}}, true), ConfigError);
  CHECK_THROWS_AS(make_action_head(Discrete{2}, true), ConfigError);
}

}  // namespace action_head_test
