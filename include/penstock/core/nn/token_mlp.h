#pragma once
#include <cstdint>
#include <memory>

#include "penstock/core/env/spec.h"
#include "penstock/core/nn/mlp.h"

namespace penstock {

/// One mlp for all tokens: the observation is one part of S rows, the action S choices of the same
/// size, and row s alone decides choice s; the value is the mean over rows. Rows whose first number
/// is 0 are absent: they cost nothing, and their preferences are 0. So the weights know no number
/// of tokens, and the network acts without libtorch. Keys and parameters are those of the mlp.
/// Throws ConfigError for other observations and actions.
std::unique_ptr<Network> make_token_mlp(const EnvSpec& spec, const NetConfig& config,
                                        std::uint64_t seed);

}  // namespace penstock
