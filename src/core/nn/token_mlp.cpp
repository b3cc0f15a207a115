#include "penstock/core/nn/token_mlp.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "penstock/core/base/errors.h"

// Shapes: B samples, S tokens, F features of a token, K alternatives of a choice, M tokens present.

namespace penstock {
namespace {

/// What the mlp sees: one token, one choice.
EnvSpec spec_of_token(const EnvSpec& spec) {
  const auto& parts = spec.obs.parts();
  const auto& choices = spec.action.choices();
  const bool rows = parts.size() == 1 && parts[0].shape.size() == 2 && !parts[0].counts &&
                    parts[0].lookups.empty();
  const bool alike = !choices.empty() && std::ranges::count(choices, choices[0]) ==
                                             static_cast<std::ptrdiff_t>(choices.size());
  if (!rows || !alike || parts[0].shape[0] != static_cast<std::int64_t>(choices.size())) {
    throw ConfigError(
        "net.kind = tokens: wants an observation of one part [S, F] and an action of S choices "
        "with as many alternatives each; use net.kind = mlp or transformer for this env");
  }
  return {.obs = Layout(parts[0].shape[1]), .action = Discrete{.n = choices[0]}};
}

class TokenMlp final : public Network {
 public:
  TokenMlp(const EnvSpec& spec, const NetConfig& config, std::uint64_t seed)
      : num_tokens_(static_cast<std::int64_t>(spec.action.choices().size())),
        mlp_(make_mlp(spec_of_token(spec), config, seed)) {}

  NetworkOutput forward(const Observation& batch, Outputs want) override {
    const std::int64_t rows = batch.obs.size(0);
    const at::Tensor tokens = batch.obs.view({rows * num_tokens_, -1});  // [B S, F]
    const at::Tensor there = tokens.select(1, 0).ne(0);                  // [B S]
    const at::Tensor index = there.nonzero().squeeze(1);                 // [M]
    const NetworkOutput each = mlp_->forward({tokens.index_select(0, index), {}}, want);
    NetworkOutput out;
    if (want != Outputs::value) {
      const at::Tensor none =
          at::zeros({rows * num_tokens_, each.params.size(1)}, tokens.options());
      out.params = none.index_copy(0, index, each.params).view({rows, -1});
    }
    if (want != Outputs::policy) {
      const at::Tensor none = at::zeros({rows * num_tokens_}, tokens.options());
      const at::Tensor sum = none.index_copy(0, index, each.value).view({rows, -1}).sum(1);
      out.value = sum / there.view({rows, -1}).sum(1).clamp_min(1);
    }
    return out;
  }

  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    return mlp_->parameters();
  }
  [[nodiscard]] Outputs serves(const std::string& parameter) const override {
    return mlp_->serves(parameter);
  }
  [[nodiscard]] std::int64_t floats_per_row() const override {
    return num_tokens_ * mlp_->floats_per_row();
  }
  [[nodiscard]] std::optional<fused::MlpShape> fused_shape(
      const OffsetOf& offset_of) const override {
    auto shape = mlp_->fused_shape(offset_of);
    if (shape) { shape->tokens = static_cast<std::size_t>(num_tokens_); }
    return shape;
  }

 private:
  std::int64_t num_tokens_;
  std::unique_ptr<Network> mlp_;
};

}  // namespace

std::unique_ptr<Network> make_token_mlp(const EnvSpec& spec, const NetConfig& config,
                                        std::uint64_t seed) {
  return std::make_unique<TokenMlp>(spec, config, seed);
}

}  // namespace penstock
