#pragma once
#include <cstdint>
#include <memory>

#include "penstock/core/env/spec.h"
#include "penstock/core/nn/mlp.h"

namespace penstock {

/// A small pre-norm transformer encoder (net.layers, net.heads, net.width) with a mean over tokens
/// and linear actor and critic on top. Tokens are the rows of the observation's part "tokens", else
/// of its first part that has two dimensions; where none has, every feature is a token of its own.
/// Each token's place has a learned embedding, unless net.places is false: then the order and the
/// number of tokens do not matter to its parameters. Where the observation has other parts, a
/// linear layer with ReLU mixes them with the mean before the heads. Initial weights are drawn from
/// `seed` alone. Parameters: embed.*, place, block.K.{norm1,qkv,out,norm2,up,down}.*, norm.*, mix.*
/// (with other parts), actor.*, critic.*; log_std for box actions.
std::unique_ptr<Network> make_transformer(const EnvSpec& spec, const NetConfig& config,
                                          std::uint64_t seed);

}  // namespace penstock
