#include "penstock/nn/mlp.h"

#include <ATen/ATen.h>

#include <cmath>

#include "nn/orthogonal.h"
#include "nn/skip.h"
#include "penstock/nn/action_head.h"

namespace penstock {
namespace {

struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
};

using fused::Activation;

/// A stack of linear layers with an activation between them.
struct Stack {
  std::string name;
  std::vector<Linear> layers;
  bool activate_last = false;  // a trunk ends with an activation, a head does not

  at::Tensor forward(at::Tensor x, Activation activation) const {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      x = at::linear(x, layers[i].weight, layers[i].bias);
      if (i + 1 < layers.size() || activate_last) {
        x = activation == Activation::tanh ? x.tanh() : x.relu();
      }
    }
    return x;
  }

  [[nodiscard]] std::string prefix(std::size_t layer) const {
    return name + "." + std::to_string(layer);
  }

  [[nodiscard]] std::vector<fused::LinearShape> shapes(const Network::OffsetOf& offset_of) const {
    std::vector<fused::LinearShape> shapes;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      shapes.push_back({.inputs = static_cast<std::size_t>(layers[i].weight.size(1)),
                        .outputs = static_cast<std::size_t>(layers[i].weight.size(0)),
                        .weight = offset_of(prefix(i) + ".weight"),
                        .bias = offset_of(prefix(i) + ".bias")});
    }
    return shapes;
  }
};

class Mlp final : public Network {
 public:
  Mlp(const EnvSpec& spec, const NetConfig& config, std::uint64_t seed)
      : num_features_(spec.obs.size()),
        activation_(config.activation == "tanh" ? Activation::tanh : Activation::relu),
        seed_(seed),
        skip_(spec, config) {
    const auto features = static_cast<std::int64_t>(spec.obs.size());
    const ActionSpec& action = spec.action;
    const auto outputs =
        static_cast<std::int64_t>(action.continuous() ? action.dims() : action.num_actions());
    std::int64_t width = features;
    std::vector<std::int64_t> hidden = config.hidden;
    if (config.shared_trunk) {
      trunk_ = stack("trunk", features, hidden, std::sqrt(2.0));
      trunk_.activate_last = true;
      width = hidden.empty() ? features : hidden.back();
      hidden.clear();
    }
    actor_ = stack("actor", width, with(hidden, outputs), 0.01);
    critic_ = stack("critic", width, with(hidden, 1), 1.0);
    if (action.continuous()) {
      log_std_ = at::full({outputs}, config.log_std_init, at::kFloat).set_requires_grad(true);
    }
  }

  NetworkOutput forward(const Observation& batch, Want want) override {
    const at::Tensor x = trunk_.layers.empty() ? batch.obs : trunk_.forward(batch.obs, activation_);
    NetworkOutput out;
    if (want != Want::value) {
      out.params = skip_.add_to(actor_.forward(x, activation_), batch.obs);
      if (log_std_.defined()) {
        out.params = at::cat({out.params, log_std_.expand_as(out.params)}, 1);
      }
    }
    if (want != Want::policy) { out.value = critic_.forward(x, activation_).squeeze(1); }
    return out;
  }

  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    std::vector<std::pair<std::string, at::Tensor>> all;
    for (const Stack* stack : {&trunk_, &actor_, &critic_}) {
      for (std::size_t i = 0; i < stack->layers.size(); ++i) {
        all.emplace_back(stack->prefix(i) + ".weight", stack->layers[i].weight);
        all.emplace_back(stack->prefix(i) + ".bias", stack->layers[i].bias);
      }
    }
    if (log_std_.defined()) { all.emplace_back("log_std", log_std_); }
    return all;
  }

  /// Every layer's output before and after its activation.
  [[nodiscard]] std::int64_t floats_per_row() const override {
    std::int64_t sum = static_cast<std::int64_t>(num_features_);
    for (const Stack* stack : {&trunk_, &actor_, &critic_}) {
      for (const Linear& layer : stack->layers) { sum += 2 * layer.weight.size(0); }
    }
    return sum;
  }

  [[nodiscard]] std::optional<fused::MlpShape> fused_shape(
      const OffsetOf& offset_of) const override {
    return fused::MlpShape{
        .activation = activation_,
        .num_features = num_features_,
        .trunk = trunk_.shapes(offset_of),
        .actor = actor_.shapes(offset_of),
        .critic = critic_.shapes(offset_of),
        .log_std = log_std_.defined() ? offset_of("log_std") : fused::MlpShape::kNone,
        .skip = skip_.any() ? static_cast<std::size_t>(skip_.offset) : fused::MlpShape::kNone,
        .skip_scale = static_cast<float>(skip_.scale)};
  }

 private:
  static std::vector<std::int64_t> with(std::vector<std::int64_t> widths, std::int64_t last) {
    widths.push_back(last);
    return widths;
  }

  Stack stack(const char* name, std::int64_t inputs, const std::vector<std::int64_t>& widths,
              double last_gain) {
    Stack result{.name = name, .layers = {}};
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const double gain = i + 1 < widths.size() ? std::sqrt(2.0) : last_gain;
      const RandomKey key{.seed = seed_, .owner = next_layer_++, .stream = Stream::weights};
      result.layers.push_back(
          {detail::orthogonal(widths[i], inputs, gain, key).set_requires_grad(true),
           at::zeros({widths[i]}).set_requires_grad(true)});
      inputs = widths[i];
    }
    return result;
  }

  std::size_t num_features_;
  Activation activation_;
  std::uint64_t seed_;
  detail::Skip skip_;
  std::uint32_t next_layer_ = 0;
  Stack trunk_;
  Stack actor_;
  Stack critic_;
  at::Tensor log_std_;
};

}  // namespace

std::unique_ptr<Network> make_mlp(const EnvSpec& spec, const NetConfig& config,
                                  std::uint64_t seed) {
  return std::make_unique<Mlp>(spec, config, seed);
}

}  // namespace penstock
