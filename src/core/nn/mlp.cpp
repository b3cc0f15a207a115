#include "penstock/core/nn/mlp.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/nn/inputs.h"
#include "core/nn/orthogonal.h"
#include "core/nn/skip.h"
#include "penstock/core/act/action_head.h"

namespace penstock {
namespace {

struct Linear {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]
};

using Activate = at::Tensor (*)(const at::Tensor&);

Activate activation_of(const std::string& name) {
  if (name == "relu") {
    return [](const at::Tensor& x) { return x.relu(); };
  }
  if (name == "elu") {
    return [](const at::Tensor& x) { return at::elu(x); };
  }
  if (name == "gelu") {
    return [](const at::Tensor& x) { return at::gelu(x); };
  }
  if (name == "silu") {
    return [](const at::Tensor& x) { return at::silu(x); };
  }
  return [](const at::Tensor& x) { return x.tanh(); };
}

/// A stack of linear layers with an activation between them.
struct Stack {
  std::string name;
  std::vector<Linear> layers;
  bool activate_last = false;  // a trunk ends with an activation, a head does not
  bool by_input = false;       // the first layer's weights lie as their transpose

  /// `inputs`: x is rows, which they read; null: x is numbers.
  at::Tensor forward(at::Tensor x, Activate activate, const detail::Inputs* inputs) const {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& [weight, bias] = layers[i];
      x = i == 0 && inputs != nullptr ? inputs->linear(x, weight, bias)
                                      : at::linear(x, weight, bias);
      if (i + 1 < layers.size() || activate_last) { x = activate(x); }
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
                        .bias = offset_of(prefix(i) + ".bias"),
                        .by_input = by_input && i == 0});
    }
    return shapes;
  }
};

class Mlp final : public Network {
 public:
  Mlp(const EnvSpec& spec, const NetConfig& config, std::uint64_t seed)
      : inputs_(spec.obs, config, seed),
        row_size_(spec.obs.size()),
        activate_(activation_of(config.activation)),
        kernel_(fused::activation_named(config.activation)),
        seed_(seed),
        skip_(spec, config) {
    const std::int64_t features = inputs_.width();
    const ActionSpec& action = spec.action;
    const std::int64_t outputs = action.continuous() ? action.dims() : action.num_actions();
    std::int64_t width = features;
    std::vector<std::int64_t> hidden = config.hidden;
    if (config.shared_trunk) {
      trunk_ = stack("trunk", features, hidden, std::sqrt(2.0));
      trunk_.activate_last = true;
      width = hidden.empty() ? features : hidden.back();
      hidden.clear();
    }
    actor_ = stack("actor", width, with(hidden, outputs), 0.01);
    detail::prefer_start_action(actor_.layers.back().bias, spec, config);
    critic_ = stack("critic", width, with(hidden, 1), 1.0);
    if (action.continuous()) {
      log_std_ = at::full({outputs}, config.log_std_init, at::kFloat).set_requires_grad(true);
    }
  }

  NetworkOutput forward(const Observation& batch, Outputs want) override {
    const bool shared = !trunk_.layers.empty();
    const at::Tensor x = shared ? trunk_.forward(batch.obs, activate_, &inputs_) : batch.obs;
    const detail::Inputs* inputs = shared ? nullptr : &inputs_;
    NetworkOutput out;
    if (want != Outputs::value) {
      out.params = skip_.add_to(actor_.forward(x, activate_, inputs), batch.obs);
      if (log_std_.defined()) {
        out.params = at::cat({out.params, log_std_.expand_as(out.params)}, 1);
      }
    }
    if (want != Outputs::policy) { out.value = critic_.forward(x, activate_, inputs).squeeze(1); }
    return out;
  }

  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    std::vector<std::pair<std::string, at::Tensor>> all = inputs_.parameters();
    for (const Stack* stack : {&trunk_, &actor_, &critic_}) {
      for (std::size_t i = 0; i < stack->layers.size(); ++i) {
        all.emplace_back(stack->prefix(i) + ".weight", stack->layers[i].weight);
        all.emplace_back(stack->prefix(i) + ".bias", stack->layers[i].bias);
      }
    }
    if (log_std_.defined()) { all.emplace_back("log_std", log_std_); }
    return all;
  }

  [[nodiscard]] Outputs serves(const std::string& parameter) const override {
    if (parameter.starts_with("actor.") || parameter == "log_std") { return Outputs::policy; }
    return parameter.starts_with("critic.") ? Outputs::value : Outputs::both;
  }

  /// Every layer's output before and after its activation.
  [[nodiscard]] std::int64_t floats_per_row() const override {
    std::int64_t sum =
        inputs_.any_counts() ? static_cast<std::int64_t>(row_size_) : inputs_.width();
    for (const Stack* stack : {&trunk_, &actor_, &critic_}) {
      for (const Linear& layer : stack->layers) { sum += 2 * layer.weight.size(0); }
    }
    return sum;
  }

  [[nodiscard]] std::optional<fused::MlpShape> fused_shape(
      const OffsetOf& offset_of) const override {
    const bool first_is_head = trunk_.layers.empty() && actor_.layers.size() == 1;
    if (!kernel_ || inputs_.any_names() || (inputs_.any_counts() && first_is_head)) {
      return std::nullopt;
    }
    return fused::MlpShape{
        .activation = *kernel_,
        .row_size = row_size_,
        .parts = fused_parts(),
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

  [[nodiscard]] std::vector<fused::InputPart> fused_parts() const {
    std::vector<fused::InputPart> parts;
    if (!inputs_.any_counts()) { return parts; }
    for (const auto& [part, first, width] : inputs_.pieces()) {
      parts.push_back({.offset = part.offset,
                       .size = part.size,
                       .first_feature = part.first_feature,
                       .num_features = part.num_features,
                       .counts = part.counts});
    }
    return parts;
  }

  Stack stack(const char* name, std::int64_t inputs, const std::vector<std::int64_t>& widths,
              double last_gain) {
    // The weights of what is counted are looked up input by input.
    const bool by_input = inputs_.any_counts() && trunk_.layers.empty();
    Stack result{.name = name, .layers = {}, .by_input = by_input};
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const double gain = i + 1 < widths.size() ? std::sqrt(2.0) : last_gain;
      const RandomKey key{.seed = seed_, .owner = next_layer_++, .stream = Stream::weights};
      at::Tensor weight = detail::orthogonal(widths[i], inputs, gain, key);
      if (by_input && i == 0) { weight = weight.t().contiguous().t(); }
      result.layers.push_back(
          {weight.set_requires_grad(true), at::zeros({widths[i]}).set_requires_grad(true)});
      inputs = widths[i];
    }
    return result;
  }

  detail::Inputs inputs_;
  std::size_t row_size_;
  Activate activate_;
  std::optional<fused::Activation> kernel_;  // gelu and silu have none
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
