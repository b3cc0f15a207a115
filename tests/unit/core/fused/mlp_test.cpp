#include "penstock/core/fused/mlp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "penstock/core/fused/isa.h"
#include "unit/core/fused/support.h"

using namespace penstock;
using fused::Activation;
using fused::AlignedFloats;
using fused::LinearShape;
using fused::Mlp;
using fused::MlpShape;
using test::random_floats;

namespace {

// The network again, in doubles and one row at a time, straight from the definition.

struct Sizes {
  std::size_t features = 1;
  std::vector<std::size_t> trunk;
  std::vector<std::size_t> actor;   // hidden layers, then the outputs
  std::vector<std::size_t> critic;  // hidden layers, then 1
  Activation activation = Activation::tanh;
};

/// A shape for the sizes, and a buffer of weights whose padding is zero.
struct Made {
  MlpShape shape;
  AlignedFloats weights;
  std::size_t num_floats = 0;
};

Made make(const Sizes& sizes, bool box = false) {
  Made made;
  made.shape.activation = sizes.activation;
  made.shape.row_size = sizes.features;
  std::vector<std::pair<std::size_t, std::size_t>> filled;  // offset, size
  const auto place = [&](std::size_t size) {
    filled.emplace_back(made.num_floats, size);
    made.num_floats += fused::padded(size);
    return filled.back().first;
  };
  const auto stack = [&](std::size_t inputs, const std::vector<std::size_t>& widths) {
    std::vector<LinearShape> layers;
    for (const std::size_t width : widths) {
      layers.push_back({.inputs = inputs, .outputs = width, .weight = place(inputs * width)});
      layers.back().bias = place(width);
      inputs = width;
    }
    return layers;
  };
  const std::size_t width = sizes.trunk.empty() ? sizes.features : sizes.trunk.back();
  made.shape.trunk = stack(sizes.features, sizes.trunk);
  made.shape.actor = stack(width, sizes.actor);
  made.shape.critic = stack(width, sizes.critic);
  if (box) { made.shape.log_std = place(sizes.actor.back()); }
  made.weights = AlignedFloats(made.num_floats);
  unsigned seed = 100;
  for (const auto& [offset, size] : filled) {
    const AlignedFloats values = random_floats(size, seed++);
    for (std::size_t i = 0; i < size; ++i) {
      made.weights.data()[offset + i] = 0.5F * values.data()[i];
    }
  }
  return made;
}

using Numbers = std::vector<double>;

struct Reference {
  const Made& made;

  [[nodiscard]] double weight(const LinearShape& layer, std::size_t o, std::size_t i) const {
    return made.weights.data()[layer.weight + o * layer.inputs + i];
  }
  [[nodiscard]] Numbers layer(const LinearShape& shape, const Numbers& x) const {
    Numbers y(shape.outputs);
    for (std::size_t o = 0; o < shape.outputs; ++o) {
      y[o] = made.weights.data()[shape.bias + o];
      for (std::size_t i = 0; i < shape.inputs; ++i) { y[o] += weight(shape, o, i) * x[i]; }
    }
    return y;
  }
  [[nodiscard]] double activated(double x) const {
    if (made.shape.activation == Activation::elu) { return x > 0 ? x : std::expm1(x); }
    return made.shape.activation == Activation::tanh ? std::tanh(x) : std::max(x, 0.0);
  }
  /// Of the activation, by its output.
  [[nodiscard]] double slope(double y) const {
    if (made.shape.activation == Activation::elu) { return y > 0 ? 1 : y + 1; }
    return made.shape.activation == Activation::tanh ? 1 - y * y : (y > 0 ? 1 : 0);
  }
  /// The outputs of all layers, each but the last of a head activated; the first entry is x.
  [[nodiscard]] std::vector<Numbers> run(const std::vector<LinearShape>& stack, Numbers x,
                                         bool head) const {
    std::vector<Numbers> all = {x};
    for (std::size_t l = 0; l < stack.size(); ++l) {
      x = layer(stack[l], x);
      if (!head || l + 1 < stack.size()) {
        for (double& v : x) { v = activated(v); }
      }
      all.push_back(x);
    }
    return all;
  }
  /// Adds to `gradient` what `delta` at the stack's end makes; gives the gradient of its input.
  Numbers back(const std::vector<LinearShape>& stack, const std::vector<Numbers>& outputs,
               Numbers delta, bool head, Numbers& gradient) const {
    for (std::size_t l = stack.size(); l-- > 0;) {
      if (!head || l + 1 < stack.size()) {
        for (std::size_t o = 0; o < delta.size(); ++o) {
          const double y = outputs[l + 1][o];
          delta[o] *= slope(y);
        }
      }
      Numbers below(stack[l].inputs, 0.0);
      for (std::size_t o = 0; o < stack[l].outputs; ++o) {
        gradient[stack[l].bias + o] += delta[o];
        for (std::size_t i = 0; i < stack[l].inputs; ++i) {
          gradient[stack[l].weight + o * stack[l].inputs + i] += delta[o] * outputs[l][i];
          below[i] += delta[o] * weight(stack[l], o, i);
        }
      }
      delta = below;
    }
    return delta;
  }
};

Numbers row_of(const AlignedFloats& rows, std::size_t r, std::size_t width) {
  return {rows.data() + r * width, rows.data() + (r + 1) * width};
}

const std::vector<Sizes>& odd_networks() {
  static const std::vector<Sizes> kAll = {
      {.features = 1, .actor = {1}, .critic = {1}},
      {.features = 3, .actor = {5, 2}, .critic = {7, 1}},
      {.features = 17, .trunk = {16}, .actor = {6}, .critic = {1}, .activation = Activation::relu},
      {.features = 33, .trunk = {19, 8}, .actor = {31, 21}, .critic = {1}},
      {.features = 9, .actor = {40, 3}, .critic = {24, 1}, .activation = Activation::elu},
      {.features = 16, .actor = {64, 48, 4}, .critic = {2, 3, 1}, .activation = Activation::relu},
  };
  return kAll;
}

}  // namespace

TEST_CASE("a fused network is the network in doubles, at odd widths and any number of rows") {
  test::on_every_isa([] {
    for (const Sizes& sizes : odd_networks()) {
      CAPTURE(sizes.features);
      const Made made = make(sizes);
      const Reference reference{made};
      Mlp mlp(made.shape, made.weights.data(), nullptr);
      const std::size_t outputs = sizes.actor.back();
      for (const std::size_t rows : {1U, 2U, 63U, 64U, 65U, 130U}) {
        const AlignedFloats obs = random_floats(rows * sizes.features, 7);
        std::vector<float> params(rows * outputs + 1, 77.0F);  // one more, to be left alone
        std::vector<float> value(rows + 1, 77.0F);
        mlp.infer(obs.data(), rows, params.data(), value.data());
        for (std::size_t r = 0; r < rows; ++r) {
          const Numbers x = row_of(obs, r, sizes.features);
          const Numbers inner = reference.run(made.shape.trunk, x, false).back();
          const Numbers logits = reference.run(made.shape.actor, inner, true).back();
          for (std::size_t o = 0; o < outputs; ++o) {
            REQUIRE(params[r * outputs + o] == doctest::Approx(logits[o]).epsilon(1e-4));
          }
          const Numbers v = reference.run(made.shape.critic, inner, true).back();
          REQUIRE(value[r] == doctest::Approx(v[0]).epsilon(1e-4));
        }
        CHECK(params.back() == 77.0F);
        CHECK(value.back() == 77.0F);
      }
    }
  });
}

TEST_CASE("an output that is not wanted does not change the other one") {
  const Made made = make({.features = 5, .trunk = {9}, .actor = {3}, .critic = {4, 1}});
  Mlp mlp(made.shape, made.weights.data(), nullptr);
  const AlignedFloats obs = random_floats(70 * 5, 3);
  std::vector<float> params(70 * 3);
  std::vector<float> value(70);
  mlp.infer(obs.data(), 70, params.data(), value.data());
  std::vector<float> params_alone(70 * 3);
  std::vector<float> value_alone(70);
  mlp.infer(obs.data(), 70, params_alone.data(), nullptr);
  mlp.infer(obs.data(), 70, nullptr, value_alone.data());
  CHECK(params == params_alone);
  CHECK(value == value_alone);
}

TEST_CASE("a box policy's row ends with its log deviations") {
  const Made made = make({.features = 2, .actor = {3}, .critic = {1}}, true);
  Mlp mlp(made.shape, made.weights.data(), nullptr);
  const AlignedFloats obs = random_floats(66 * 2, 4);
  std::vector<float> params(66 * 6);
  mlp.infer(obs.data(), 66, params.data(), nullptr);
  for (std::size_t r = 0; r < 66; ++r) {
    for (std::size_t d = 0; d < 3; ++d) {
      REQUIRE(params[r * 6 + 3 + d] == made.weights.data()[made.shape.log_std + d]);
    }
  }
}

TEST_CASE("features that skip the network are added to the actor's outputs, scaled") {
  const Sizes sizes{.features = 5, .actor = {4, 2}, .critic = {1}};
  Made made = make(sizes);
  const AlignedFloats obs = random_floats(3 * 5, 4);
  std::vector<float> plain(3 * 2);
  Mlp(made.shape, made.weights.data(), nullptr).infer(obs.data(), 3, plain.data(), nullptr);
  made.shape.skip = 3;
  made.shape.skip_scale = -2.5F;
  std::vector<float> skipped(3 * 2);
  Mlp(made.shape, made.weights.data(), nullptr).infer(obs.data(), 3, skipped.data(), nullptr);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t o = 0; o < 2; ++o) {
      CHECK(skipped[2 * r + o] ==
            doctest::Approx(plain[2 * r + o] - 2.5 * obs.data()[5 * r + 3 + o]).epsilon(1e-5));
    }
  }
}

TEST_CASE("a fused gradient is the chain rule in doubles, summed over chunks of any size") {
  test::on_every_isa([] {
    for (const Sizes& sizes : odd_networks()) {
      CAPTURE(sizes.features);
      const Made made = make(sizes);
      const Reference reference{made};
      const std::size_t outputs = sizes.actor.back();
      AlignedFloats gradient = random_floats(made.num_floats, 55);  // old, to be replaced
      Mlp mlp(made.shape, made.weights.data(), gradient.data());
      Numbers expected(made.num_floats, 0.0);
      mlp.begin_gradient({});
      for (const std::size_t rows : {64U, 1U, 13U}) {
        const AlignedFloats obs = random_floats(rows * sizes.features, 8 + unsigned(rows));
        const AlignedFloats deltas = random_floats(rows * (outputs + 1), 9);
        const std::size_t stride = fused::padded(sizes.features);
        for (std::size_t r = 0; r < rows; ++r) {
          std::copy_n(obs.data() + r * sizes.features, sizes.features, mlp.input() + r * stride);
        }
        mlp.forward(rows, {});
        for (std::size_t r = 0; r < rows; ++r) {
          const Numbers delta = row_of(deltas, r, outputs + 1);
          for (std::size_t o = 0; o < outputs; ++o) {
            mlp.params_delta()[o * Mlp::kChunk + r] = static_cast<float>(delta[o]);
          }
          mlp.value_delta()[r] = static_cast<float>(delta[outputs]);
          const Numbers x = row_of(obs, r, sizes.features);
          const auto trunk = reference.run(made.shape.trunk, x, false);
          const auto actor = reference.run(made.shape.actor, trunk.back(), true);
          const auto critic = reference.run(made.shape.critic, trunk.back(), true);
          Numbers below = reference.back(made.shape.actor, actor, {delta.begin(), delta.end() - 1},
                                         true, expected);
          const Numbers more =
              reference.back(made.shape.critic, critic, {delta.back()}, true, expected);
          for (std::size_t i = 0; i < below.size(); ++i) { below[i] += more[i]; }
          reference.back(made.shape.trunk, trunk, below, false, expected);
        }
        mlp.backward(rows, {});
      }
      mlp.end_gradient({});
      const auto check = [&](std::size_t offset, std::size_t size) {
        for (std::size_t i = offset; i < offset + size; ++i) {
          REQUIRE(std::abs(gradient.data()[i] - expected[i]) <
                  1e-4 * std::max(1.0, std::abs(expected[i])));
        }
      };
      for (const auto* stack : {&made.shape.trunk, &made.shape.actor, &made.shape.critic}) {
        for (const LinearShape& layer : *stack) {
          check(layer.weight, layer.inputs * layer.outputs);
          check(layer.bias, layer.outputs);
        }
      }
    }
  });
}

TEST_CASE("the gradient of one network leaves the other's where it was") {
  const Made made = make({.features = 3, .actor = {8, 2}, .critic = {8, 1}});
  AlignedFloats gradient = random_floats(made.num_floats, 1);
  const AlignedFloats before = random_floats(made.num_floats, 1);
  Mlp mlp(made.shape, made.weights.data(), gradient.data());
  const fused::Parts critic{.actor = false, .critic = true};
  mlp.begin_gradient(critic);
  std::fill_n(mlp.input(), 3, 1.0F);
  mlp.forward(1, critic);
  mlp.value_delta()[0] = 1;
  mlp.backward(1, critic);
  mlp.end_gradient(critic);
  for (const LinearShape& layer : made.shape.actor) {
    CHECK(std::memcmp(gradient.data() + layer.weight, before.data() + layer.weight,
                      layer.inputs * layer.outputs * sizeof(float)) == 0);
  }
  CHECK(gradient.data()[made.shape.critic.back().bias] == 1);
}

TEST_CASE("weights that changed count after pack, and another buffer after use") {
  Made made = make({.features = 3, .actor = {20, 2}, .critic = {1}});
  Mlp mlp(made.shape, made.weights.data(), nullptr);
  const AlignedFloats obs = random_floats(3, 2);
  const auto value = [&] {
    float v = 0;
    mlp.infer(obs.data(), 1, nullptr, &v);
    return v;
  };
  const auto first_logit = [&] {
    std::vector<float> params(2);
    mlp.infer(obs.data(), 1, params.data(), nullptr);
    return params[0];
  };
  const float old_value = value();
  const float old_logit = first_logit();
  const AlignedFloats zeros(made.num_floats);
  mlp.use(zeros.data());
  CHECK(value() == 0);
  CHECK(first_logit() == 0);
  mlp.use(made.weights.data());
  CHECK(value() == old_value);
  CHECK(first_logit() == old_logit);
  for (std::size_t i = 0; i < made.num_floats; ++i) { made.weights.data()[i] *= 0.5F; }
  mlp.pack({});
  CHECK(first_logit() != old_logit);
  float fresh = 0;
  Mlp(made.shape, made.weights.data(), nullptr).infer(obs.data(), 1, nullptr, &fresh);
  CHECK(value() == fresh);
}
