#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "penstock/core/fused/adam.h"
#include "penstock/core/fused/isa.h"
#include "penstock/core/fused/ppo_loss.h"
#include "penstock/core/fused/sample.h"
#include "unit/core/fused/support.h"

using namespace penstock;
using fused::AlignedFloats;
using fused::Head;
using fused::LossConfig;
using fused::LossInputs;
using fused::LossSums;
using fused::Mlp;
using test::random_floats;

namespace {

constexpr std::size_t kColumn = Mlp::kChunk;

/// A network whose outputs are its biases and inputs: one layer each, so that params and values of
/// every row can be set through the observation.
struct Bench {
  explicit Bench(std::size_t num_params, bool box)
      : num_params_(num_params),
        weights(2 * fused::padded(num_params * (num_params + 1)) + 4 * fused::padded(num_params) +
                4 * fused::kPad),
        gradient(weights.size()) {
    const std::size_t features = num_params + 1;
    const std::size_t actor = 0;
    const std::size_t actor_bias = fused::padded(num_params * features);
    const std::size_t critic = actor_bias + fused::padded(num_params);
    const std::size_t critic_bias = critic + fused::padded(features);
    log_std = critic_bias + fused::kPad;
    for (std::size_t p = 0; p < num_params; ++p) { weights.data()[p * features + p] = 1; }
    weights.data()[critic + num_params] = 1;
    shape.row_size = features;
    shape.actor = {{features, num_params, actor, actor_bias}};
    shape.critic = {{features, 1, critic, critic_bias}};
    if (box) { shape.log_std = log_std; }
  }

  Mlp network() { return Mlp(shape, weights.data(), gradient.data()); }
  /// Params and values of rows, as forward() will give them.
  void feed(Mlp& mlp, const AlignedFloats& params, const AlignedFloats& value, std::size_t rows) {
    const std::size_t stride = fused::padded(num_params_ + 1);
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(params.data() + r * num_params_, num_params_, mlp.input() + r * stride);
      mlp.input()[r * stride + num_params_] = value.data()[r];
    }
    mlp.begin_gradient({});
    mlp.forward(rows, {});
  }

  std::size_t num_params_;
  AlignedFloats weights;
  AlignedFloats gradient;
  std::size_t log_std = 0;
  fused::MlpShape shape;
};

/// One row's clipped surrogate with its entropy bonus, in doubles, from the definitions.
struct RowTerms {
  double log_prob = 0;
  double entropy = 0;
};
double policy_loss(const RowTerms& terms, double old_log_prob, double advantage,
                   const LossConfig& config) {
  const double ratio = std::exp(terms.log_prob - old_log_prob);
  const double low = 1 - double{config.clip};
  const double high = 1 + double{config.clip};
  const double trusted = std::min(std::max(ratio, low), high);
  return -std::min(ratio * advantage, trusted * advantage) -
         double{config.entropy_weight} * terms.entropy;
}

/// Softmaxes side by side; `legal` empty: all are.
RowTerms categorical(const std::vector<double>& logits, const std::vector<std::size_t>& choices,
                     const std::vector<std::size_t>& actions, const std::vector<bool>& legal) {
  RowTerms terms;
  std::size_t first = 0;
  for (std::size_t d = 0; d < choices.size(); ++d) {
    double total = 0;
    const auto open = [&](std::size_t a) { return legal.empty() || legal[first + a]; };
    for (std::size_t a = 0; a < choices[d]; ++a) {
      if (open(a)) { total += std::exp(logits[first + a]); }
    }
    for (std::size_t a = 0; a < choices[d]; ++a) {
      if (!open(a)) { continue; }
      const double log_p = logits[first + a] - std::log(total);
      terms.entropy -= std::exp(log_p) * log_p;
      if (a == actions[d]) { terms.log_prob += log_p; }
    }
    first += choices[d];
  }
  return terms;
}

}  // namespace

TEST_CASE("the categorical loss and its slopes are the definition's, by central differences") {
  const LossConfig config{
      .clip = 0.2F, .value_weight = 0.5F, .entropy_weight = 0.03F, .row_weight = 0.25F};
  for (const bool masked : {false, true}) {
    const Head head{.choices = {3, 2}, .dims = 2, .masked = masked};
    test::on_every_isa([&] {
      for (const std::size_t rows : {1U, 5U, 16U, 63U}) {
        Bench bench(5, false);
        Mlp mlp = bench.network();
        const AlignedFloats logits = random_floats(rows * 5, 3);
        const AlignedFloats value = random_floats(rows, 4);
        const AlignedFloats noise = random_floats(rows * 4, 5);
        bench.feed(mlp, logits, value, rows);
        LossInputs in(head);
        std::vector<std::vector<std::size_t>> actions(rows);
        std::vector<std::vector<bool>> legal(rows);
        for (std::size_t r = 0; r < rows; ++r) {
          actions[r] = {r % 3, (r / 3) % 2};
          if (masked) {
            legal[r] = {true, true, true, true, true};
            legal[r][(actions[r][0] + 1) % 3] = false;  // never the one that was taken
          }
          const std::vector<double> row(logits.data() + 5 * r, logits.data() + 5 * r + 5);
          const RowTerms terms = categorical(row, head.choices, actions[r], legal[r]);
          in.actions.data()[r] = static_cast<float>(actions[r][0]);
          in.actions.data()[kColumn + r] = static_cast<float>(actions[r][1]);
          for (std::size_t a = 0; masked && a < 5; ++a) {
            in.legal.data()[a * kColumn + r] = legal[r][a] ? 1.0F : 0.0F;
          }
          // Ratios on both sides of the clip and inside it.
          in.old_log_prob.data()[r] =
              static_cast<float>(terms.log_prob) + 0.3F * noise.data()[4 * r];
          in.advantage.data()[r] = noise.data()[4 * r + 1];
          in.target.data()[r] = noise.data()[4 * r + 2];
        }
        LossSums sums;
        fused::ppo_loss(head, in, config, {}, rows, mlp, sums);
        LossSums expected;
        for (std::size_t r = 0; r < rows; ++r) {
          std::vector<double> row(logits.data() + 5 * r, logits.data() + 5 * r + 5);
          const auto loss = [&] {
            return policy_loss(categorical(row, head.choices, actions[r], legal[r]),
                               in.old_log_prob.data()[r], in.advantage.data()[r], config);
          };
          const RowTerms terms = categorical(row, head.choices, actions[r], legal[r]);
          const double log_ratio = terms.log_prob - in.old_log_prob.data()[r];
          expected.policy += loss() + double{config.entropy_weight} * terms.entropy;
          expected.entropy += terms.entropy;
          expected.kl += std::exp(log_ratio) - 1 - log_ratio;
          expected.clipped += std::abs(std::exp(log_ratio) - 1) > 0.2 ? 1 : 0;
          expected.value += std::pow(double{value.data()[r]} - in.target.data()[r], 2);
          for (std::size_t p = 0; p < 5; ++p) {
            constexpr double kStep = 1e-5;
            const double kept = row[p];
            row[p] = kept + kStep;
            const double above = loss();
            row[p] = kept - kStep;
            const double below = loss();
            row[p] = kept;
            const double slope = (above - below) / (2 * kStep) * double{config.row_weight};
            CAPTURE(r);
            CAPTURE(p);
            REQUIRE(std::abs(mlp.params_delta()[p * kColumn + r] - slope) < 2e-5);
          }
          const double error = double{value.data()[r]} - in.target.data()[r];
          REQUIRE(mlp.value_delta()[r] == doctest::Approx(2 * 0.5 * 0.25 * error).epsilon(1e-5));
        }
        CHECK(sums.policy == doctest::Approx(expected.policy).epsilon(1e-4));
        CHECK(sums.entropy == doctest::Approx(expected.entropy).epsilon(1e-4));
        CHECK(std::abs(sums.kl - expected.kl) < 1e-5 * static_cast<double>(rows));
        CHECK(sums.clipped == expected.clipped);
        CHECK(sums.value == doctest::Approx(expected.value).epsilon(1e-4));
      }
    });
  }
}

TEST_CASE("the Gaussian loss moves means and deviations as the density says") {
  const LossConfig config{.clip = 10, .entropy_weight = 0.1F, .row_weight = 0.5F};
  const Head head{.choices = {}, .dims = 2};
  test::on_every_isa([&] {
    for (const std::size_t rows : {1U, 17U}) {
      Bench bench(2, true);
      bench.weights.data()[bench.log_std] = -0.5F;
      bench.weights.data()[bench.log_std + 1] = 0.25F;
      Mlp mlp = bench.network();
      const AlignedFloats means = random_floats(rows * 2, 3);
      const AlignedFloats points = random_floats(rows * 2, 4);
      const AlignedFloats advantage = random_floats(rows, 5);
      bench.feed(mlp, means, AlignedFloats(rows), rows);
      LossInputs in(head);
      const double log_std[2] = {-0.5, 0.25};
      double log_std_slope[2] = {0, 0};
      std::vector<double> mean_slopes;
      for (std::size_t r = 0; r < rows; ++r) {
        double log_prob = 0;
        for (std::size_t d = 0; d < 2; ++d) {
          const double z =
              (double{points.data()[2 * r + d]} - means.data()[2 * r + d]) / std::exp(log_std[d]);
          log_prob += -0.5 * z * z - log_std[d] - 0.5 * std::log(2 * std::numbers::pi);
          in.actions.data()[d * kColumn + r] = points.data()[2 * r + d];
        }
        in.old_log_prob.data()[r] = static_cast<float>(log_prob);  // the ratio is 1
        in.advantage.data()[r] = advantage.data()[r];
        for (std::size_t d = 0; d < 2; ++d) {
          const double deviation = std::exp(log_std[d]);
          const double z = (double{points.data()[2 * r + d]} - means.data()[2 * r + d]) / deviation;
          mean_slopes.push_back(-0.5 * advantage.data()[r] * z / deviation);
          log_std_slope[d] += 0.5 * (-advantage.data()[r] * (z * z - 1) - 0.1);
        }
      }
      LossSums sums;
      fused::ppo_loss(head, in, config, {}, rows, mlp, sums);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t d = 0; d < 2; ++d) {
          CHECK(mlp.params_delta()[d * kColumn + r] ==
                doctest::Approx(mean_slopes[2 * r + d]).epsilon(1e-4));
        }
      }
      for (std::size_t d = 0; d < 2; ++d) {
        CHECK(mlp.log_std_gradient()[d] == doctest::Approx(log_std_slope[d]).epsilon(1e-4));
      }
      const double entropy = -0.5 + 0.25 + std::log(2 * std::numbers::pi * std::numbers::e);
      CHECK(sums.entropy == doctest::Approx(entropy * static_cast<double>(rows)).epsilon(1e-5));
      CHECK(sums.clipped == 0);
    }
  });
}

TEST_CASE("a clipped value has the larger of both losses, and no slope where the clip holds it") {
  const LossConfig config{.value_clip = 0.5F, .value_weight = 1, .row_weight = 1};
  const Head head{.choices = {2}, .dims = 1};
  // value, old value, target: inside the clip; held and worse; held and better; beyond, below.
  const float cases[4][3] = {
      {1.2F, 1.0F, 2.0F}, {3.0F, 1.0F, 2.0F}, {3.0F, 1.0F, 4.0F}, {-2.0F, 1.0F, -5.0F}};
  Bench bench(2, false);
  Mlp mlp = bench.network();
  AlignedFloats value(4);
  LossInputs in(head);
  double expected = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    const auto [v, old, target] = cases[r];
    value.data()[r] = v;
    in.old_value.data()[r] = old;
    in.target.data()[r] = target;
    const double held = std::clamp(double{v}, double{old} - 0.5, double{old} + 0.5);
    expected += std::max(std::pow(v - target, 2), std::pow(held - target, 2));
  }
  bench.feed(mlp, AlignedFloats(8), value, 4);
  LossSums sums;
  fused::ppo_loss(head, in, config, {.actor = false, .critic = true}, 4, mlp, sums);
  CHECK(sums.value == doctest::Approx(expected));
  CHECK(mlp.value_delta()[0] == doctest::Approx(2 * (1.2 - 2.0)));
  CHECK(mlp.value_delta()[1] == doctest::Approx(2 * (3.0 - 2.0)));  // worse: it counts
  CHECK(mlp.value_delta()[2] == 0);                                 // better: the clip holds it
  CHECK(mlp.value_delta()[3] == 0);
  CHECK(sums.policy == 0);  // the actor was left out
}

TEST_CASE("Adam's kernel is the published update in doubles, tails and all") {
  test::on_every_isa([] {
    for (const std::size_t n : {1U, 3U, 16U, 37U}) {
      const AlignedFloats weight = random_floats(n, 1);
      const AlignedFloats exp_avg(n);
      const AlignedFloats exp_avg_sq(n);
      std::vector<double> w(weight.data(), weight.data() + n);
      std::vector<double> m(n);
      std::vector<double> v(n);
      for (int t = 1; t <= 30; ++t) {
        const AlignedFloats gradient = random_floats(n, 10 + static_cast<unsigned>(t));
        const double rate = 0.01;
        const double correction1 = 1 - std::pow(0.9, t);
        const double correction2 = 1 - std::pow(0.999, t);
        fused::adam_step(
            {.weight = weight.data(),
             .gradient = gradient.data(),
             .exp_avg = exp_avg.data(),
             .exp_avg_sq = exp_avg_sq.data(),
             .n = n,
             .scale = 0.5F,
             .epsilon = 1e-5F,
             .step_size = static_cast<float>(rate / correction1),
             .inverse_root_correction2 = static_cast<float>(1 / std::sqrt(correction2))});
        for (std::size_t i = 0; i < n; ++i) {
          const double g = 0.5 * gradient.data()[i];
          m[i] = 0.9 * m[i] + 0.1 * g;
          v[i] = 0.999 * v[i] + 0.001 * g * g;
          w[i] -= rate * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + 1e-5);
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        CHECK(weight.data()[i] == doctest::Approx(w[i]).epsilon(1e-4));
        CHECK(std::abs(exp_avg.data()[i] - m[i]) < 1e-6);
        CHECK(exp_avg_sq.data()[i] == doctest::Approx(v[i]).epsilon(1e-4));
      }
    }
  });
}

TEST_CASE("moments that fade end at zero, not in denormal numbers") {
  AlignedFloats weight(1);
  const AlignedFloats gradient(1);
  AlignedFloats exp_avg(1);
  AlignedFloats exp_avg_sq(1);
  exp_avg.data()[0] = 2 * std::numeric_limits<float>::min();
  exp_avg_sq.data()[0] = std::numeric_limits<float>::min();
  for (int i = 0; i < 20; ++i) {
    fused::adam_step({.weight = weight.data(),
                      .gradient = gradient.data(),
                      .exp_avg = exp_avg.data(),
                      .exp_avg_sq = exp_avg_sq.data(),
                      .n = 1});
  }
  CHECK(exp_avg.data()[0] == 0);
  CHECK(exp_avg_sq.data()[0] == 0);
  CHECK(std::isfinite(weight.data()[0]));
}

TEST_CASE("a choice is the inverse transform of its uniform number, in doubles") {
  constexpr std::size_t kAlternatives = 7;
  constexpr std::size_t kDrawn = fused::kDrawRows;
  test::on_every_isa([] {
    const AlignedFloats logits = random_floats(kAlternatives * kDrawn, 3);
    AlignedFloats legal(kAlternatives * kDrawn);
    for (std::size_t i = 0; i < legal.size(); ++i) { legal.data()[i] = i % 3 == 0 ? 0.0F : 1.0F; }
    std::vector<std::uint32_t> words(4 * kDrawn);
    fused::random_words({.seed = 6}, 0, kDrawn, words.data());
    for (const bool masked : {false, true}) {
      for (const std::size_t rows : {1U, 9U, 64U}) {
        fused::DrawColumn chosen{};
        fused::DrawColumn log_prob{};
        log_prob.fill(0.5F);
        const std::size_t bad = fused::draw_categorical({.logits = logits.data(),
                                                         .legal = masked ? legal.data() : nullptr,
                                                         .words = words.data(),
                                                         .chosen = chosen.data(),
                                                         .log_prob = log_prob.data(),
                                                         .n = kAlternatives,
                                                         .rows = rows});
        CHECK(bad == fused::kNoRow);
        for (std::size_t r = 0; r < rows; ++r) {
          std::vector<double> weight;
          double total = 0;
          for (std::size_t a = 0; a < kAlternatives; ++a) {
            const bool open = !masked || legal.data()[a * kDrawn + r] > 0;
            weight.push_back(open ? std::exp(double{logits.data()[a * kDrawn + r]}) : 0);
            total += weight.back();
          }
          const double u = static_cast<double>(words[r] >> 8U) / 16777216.0;
          std::size_t expected = 0;
          double sum = weight[0];
          while (sum <= u * total && expected + 1 < kAlternatives) { sum += weight[++expected]; }
          // A number within rounding of a border may fall to either side.
          const double gap =
              std::min(std::abs(sum - u * total), std::abs(sum - weight[expected] - u * total));
          const auto drawn = static_cast<std::size_t>(chosen[r]);
          if (gap > 1e-5 * total) { REQUIRE(drawn == expected); }
          REQUIRE(log_prob[r] ==
                  doctest::Approx(0.5 + std::log(weight[drawn] / total)).epsilon(1e-4));
        }
      }
    }
  });
}

TEST_CASE("the first row that cannot be drawn from is told, and padding is not looked at") {
  constexpr std::size_t kDrawn = fused::kDrawRows;
  test::on_every_isa([] {
    AlignedFloats logits(2 * kDrawn);
    std::vector<std::uint32_t> words(kDrawn);
    fused::DrawColumn chosen{};
    fused::DrawColumn log_prob{};
    const auto first_bad = [&](std::size_t rows) {
      return fused::draw_categorical({.logits = logits.data(),
                                      .words = words.data(),
                                      .chosen = chosen.data(),
                                      .log_prob = log_prob.data(),
                                      .n = 2,
                                      .rows = rows});
    };
    logits.data()[37] = std::numeric_limits<float>::quiet_NaN();
    logits.data()[kDrawn + 50] = std::numeric_limits<float>::infinity();
    CHECK(first_bad(64) == 37);
    CHECK(first_bad(38) == 37);
    CHECK(first_bad(37) == fused::kNoRow);
    logits.data()[37] = 0;
    CHECK(first_bad(64) == 50);
    logits.data()[kDrawn + 41] =
        std::numeric_limits<float>::quiet_NaN();  // not the first of its row
    CHECK(first_bad(64) == 41);
    CHECK(first_bad(41) == fused::kNoRow);
    logits.data()[kDrawn + 41] = -std::numeric_limits<float>::infinity();  // never drawn
    CHECK(first_bad(50) == fused::kNoRow);
    CHECK(chosen[41] == 0);
  });
}
