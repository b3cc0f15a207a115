#include "penstock/core/nn/transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>

#include "core/nn/inputs.h"
#include "core/nn/orthogonal.h"
#include "core/nn/skip.h"
#include "penstock/core/base/errors.h"

// Shapes: B samples, K tokens, F features of a token, E width, H heads, R the rest of a row.

namespace penstock {
namespace {

struct Affine {
  at::Tensor weight;  // [out, in]
  at::Tensor bias;    // [out]

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    return at::linear(x, weight, bias);
  }
};

struct Norm {
  at::Tensor weight;  // [E]
  at::Tensor bias;    // [E]

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias);
  }
};

struct Block {
  Norm norm1;
  Affine qkv;  // [3 E, E]
  Affine out;  // [E, E]
  Norm norm2;
  Affine up;    // [2 E, E]
  Affine down;  // [E, 2 E]

  /// x [B, K, E]; `there` [B, K] tells which tokens may be looked at, undefined: all.
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, std::int64_t num_heads,
                                   const at::Tensor& there) const {
    const std::int64_t batch = x.size(0);
    const std::int64_t tokens = x.size(1);
    const std::int64_t width = x.size(2);
    const at::Tensor split = qkv(norm1(x)).view({batch, tokens, 3, num_heads, width / num_heads});
    const auto part = [&](std::int64_t i) { return split.select(2, i).transpose(1, 2); };
    const auto mask =
        there.defined() ? std::optional(there.unsqueeze(1).unsqueeze(1)) : std::nullopt;
    const at::Tensor mixed = at::scaled_dot_product_attention(part(0), part(1), part(2), mask);
    const at::Tensor y = x + out(mixed.transpose(1, 2).reshape({batch, tokens, width}));
    return y + down(up(norm2(y)).relu());
  }
};

/// The part called tokens, else the first that has rows; null where every feature is a token.
const detail::Inputs::Piece* token_piece(const detail::Inputs& inputs) {
  const detail::Inputs::Piece* found = nullptr;
  for (const auto& piece : inputs.pieces()) {
    if (piece.part.shape.size() != 2) { continue; }
    if (piece.part.name == "tokens") { return &piece; }
    if (found == nullptr) { found = &piece; }
  }
  return found;
}

/// The part that tokens come from; what stands before and after it is the rest.
struct Tokens {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t features = 1;
  std::int64_t row_size = 0;
  std::int64_t name_at = -1;     // of the first token's first name in a row; -1: tokens have none
  std::int64_t name_stride = 0;  // from token to token

  explicit Tokens(const detail::Inputs& inputs) : count(inputs.width()), row_size(count) {
    if (const auto* piece = token_piece(inputs)) {
      offset = piece->first;
      count = piece->part.shape[0];
      features = piece->width / count;
      const Part& part = piece->part;
      if (!part.lookups.empty()) {
        name_at = part.offset + part.lookups[0].column;
        name_stride = part.shape[1];
      }
    }
  }

  /// Which tokens have a name, of rows as the env wrote them: [B, K]; undefined where none can
  /// have. A row without any counts as full, as nothing can be said of it.
  [[nodiscard]] at::Tensor there(const at::Tensor& rows) const {
    if (name_at < 0) { return {}; }
    const std::int64_t end = name_at + (count - 1) * name_stride + 1;
    const at::Tensor named = rows.slice(1, name_at, end, name_stride).ge(0);
    return named.logical_or(named.any(1, true).logical_not());
  }

  [[nodiscard]] std::int64_t size() const { return count * features; }
  [[nodiscard]] std::int64_t rest_size() const { return row_size - size(); }

  [[nodiscard]] at::Tensor of(const at::Tensor& obs) const {  // [B, K, F]
    return obs.narrow(1, offset, size()).view({-1, count, features});
  }
  [[nodiscard]] at::Tensor rest_of(const at::Tensor& obs) const {  // [B, R]
    const std::int64_t end = offset + size();
    return at::cat({obs.narrow(1, 0, offset), obs.narrow(1, end, row_size - end)}, 1);
  }
};

class Transformer final : public Network {
 public:
  Transformer(const EnvSpec& spec, const NetConfig& config, std::uint64_t seed)
      : inputs_(spec.obs, config, seed),
        tokens_(inputs_),
        skip_(spec, config),
        num_heads_(config.heads),
        seed_(seed) {
    if (config.width % config.heads != 0) {
      throw ConfigError("net.width = " + std::to_string(config.width) +
                        ": expected a multiple of net.heads = " + std::to_string(config.heads));
    }
    parameters_ = inputs_.parameters();
    const std::int64_t width = config.width;
    embed_ = linear("embed", width, tokens_.features, 1.0);
    if (config.places) {
      place_ = add("place", detail::orthogonal(tokens_.count, width, 0.1, next_key()));
    }
    for (std::int64_t i = 0; i < config.layers; ++i) {
      const std::string prefix = "block." + std::to_string(i);
      Block block;
      block.norm1 = norm(prefix + ".norm1", width);
      block.qkv = linear(prefix + ".qkv", 3 * width, width, 1.0);
      block.out = linear(prefix + ".out", width, width, 0.5);
      block.norm2 = norm(prefix + ".norm2", width);
      block.up = linear(prefix + ".up", 2 * width, width, std::sqrt(2.0));
      block.down = linear(prefix + ".down", width, 2 * width, 0.5);
      blocks_.push_back(block);
    }
    norm_ = norm("norm", width);
    if (tokens_.rest_size() > 0) {
      mix_ = linear("mix", width, width + tokens_.rest_size(), std::sqrt(2.0));
    }
    const ActionSpec& action = spec.action;
    const std::int64_t outputs = action.continuous() ? action.dims() : action.num_actions();
    actor_ = linear("actor", outputs, width, 0.01);
    detail::prefer_start_action(actor_.bias, spec, config);
    critic_ = linear("critic", 1, width, 1.0);
    if (action.continuous()) {
      log_std_ = add("log_std", at::full({outputs}, config.log_std_init, at::kFloat));
    }
  }

  NetworkOutput forward(const Observation& batch, Outputs want) override {
    const at::Tensor x = summary(inputs_.read(batch.obs), tokens_.there(batch.obs));
    NetworkOutput out;
    if (want != Outputs::value) {
      out.params = skip_.add_to(actor_(x), batch.obs);
      if (log_std_.defined()) {
        out.params = at::cat({out.params, log_std_.expand_as(out.params)}, 1);
      }
    }
    if (want != Outputs::policy) { out.value = critic_(x).squeeze(1); }
    return out;
  }

  std::vector<std::pair<std::string, at::Tensor>> parameters() override { return parameters_; }

  [[nodiscard]] Outputs serves(const std::string& parameter) const override {
    if (parameter.starts_with("actor.") || parameter == "log_std") { return Outputs::policy; }
    return parameter.starts_with("critic.") ? Outputs::value : Outputs::both;
  }

  /// What autograd keeps of each token: about ten numbers per block and channel; and what the mix
  /// joins and gives.
  [[nodiscard]] std::int64_t floats_per_row() const override {
    const std::int64_t blocks = blocks_.size();
    const std::int64_t width = embed_.bias.size(0);
    const std::int64_t rest = tokens_.rest_size();
    return tokens_.count * width * (10 * blocks + 4) + (rest > 0 ? rest + 3 * width : 0);
  }

 private:
  /// Of numbers [B, X] and the tokens that are there: [B, E].
  [[nodiscard]] at::Tensor summary(const at::Tensor& obs, const at::Tensor& there) const {
    at::Tensor x = embed_(tokens_.of(obs));  // [B, K, E]
    if (place_.defined()) { x = x + place_; }
    for (const Block& block : blocks_) { x = block.forward(x, num_heads_, there); }
    at::Tensor mean = mean_of(norm_(x), there);
    if (!mix_.weight.defined()) { return mean; }
    return mix_(at::cat({mean, tokens_.rest_of(obs)}, 1)).relu();
  }

  static at::Tensor mean_of(const at::Tensor& x, const at::Tensor& there) {
    if (!there.defined()) { return x.mean(1); }
    const at::Tensor share = there.to(x.scalar_type()).unsqueeze(2);  // [B, K, 1]
    return (x * share).sum(1) / share.sum(1);
  }

  RandomKey next_key() {
    return {.seed = seed_, .owner = next_layer_++, .stream = Stream::weights};
  }
  at::Tensor add(const std::string& name, const at::Tensor& initial) {
    parameters_.emplace_back(name, initial.set_requires_grad(true));
    return parameters_.back().second;
  }
  Affine linear(const std::string& name, std::int64_t outputs, std::int64_t inputs, double gain) {
    return {add(name + ".weight", detail::orthogonal(outputs, inputs, gain, next_key())),
            add(name + ".bias", at::zeros({outputs}))};
  }
  Norm norm(const std::string& name, std::int64_t width) {
    return {add(name + ".weight", at::ones({width})), add(name + ".bias", at::zeros({width}))};
  }

  detail::Inputs inputs_;
  Tokens tokens_;
  detail::Skip skip_;
  std::int64_t num_heads_;
  std::uint64_t seed_;
  std::uint32_t next_layer_ = 0;
  std::vector<std::pair<std::string, at::Tensor>> parameters_;
  Affine embed_;
  at::Tensor place_;  // [K, E], where places matter
  std::vector<Block> blocks_;
  Norm norm_;
  Affine mix_;  // [E, E + R], where there is a rest
  Affine actor_;
  Affine critic_;
  at::Tensor log_std_;
};

}  // namespace

std::unique_ptr<Network> make_transformer(const EnvSpec& spec, const NetConfig& config,
                                          std::uint64_t seed) {
  return std::make_unique<Transformer>(spec, config, seed);
}

}  // namespace penstock
