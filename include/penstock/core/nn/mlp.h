#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/env/spec.h"
#include "penstock/core/nn/network.h"

namespace penstock {

/// The keys of the networks that ship, in the net section of a run's config.
/// The transformer reads the last four keys in the place of hidden, activation and shared_trunk.
struct NetConfig {
  std::vector<std::int64_t> hidden = {64, 64};  // from the input on
  std::string activation = "tanh";
  bool shared_trunk = false;
  double log_std_init = 0.0;  // one learnt number per dimension begins here
  std::string skip;           // a part of the observation, by name
  double skip_scale = 1.0;
  std::int64_t start_action = -1;  // -1: none
  double start_bias = 3.0;
  std::int64_t name_width = 8;  // per table
  std::int64_t width = 64;
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  bool places = true;

  /// Each key once, with its help and its limits.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("hidden", hidden, "widths of the hidden layers", Range{1, 1 << 20});
    visit("activation", activation,
          "activation between layers; gelu and silu keep a graph, which is slower",
          Choices{"tanh", "relu", "elu", "gelu", "silu"});
    visit("shared_trunk", shared_trunk, "one trunk for actor and critic instead of two");
    visit("log_std_init", log_std_init, "initial log standard deviation of box actions",
          Range{-20, 2});
    visit("skip", skip,
          "part of the observation with a number per action that is added to the actions' "
          "preferences, which the network then corrects; empty: none");
    visit("skip_scale", skip_scale, "factor of the skip part", Range{-1e6, 1e6});
    visit(
        "start_action", start_action,
        "an action that the untrained policy prefers, so that a run begins by doing what is known "
        "to be harmless; -1: none",
        Range{-1, 1e9});
    visit("start_bias", start_bias, "initial preference of that action over each other, as a logit",
          Range{0, 100});
    visit("name_width", name_width,
          "numbers that are learnt for each name in the observation (a zone, say)",
          Range{1, 1 << 16});
    visit("width", width, "transformer: numbers per token", Range{1, 1 << 16});
    visit("layers", layers, "transformer: blocks", Range{1, 1000});
    visit("heads", heads, "transformer: attention heads", Range{1, 1024});
    visit(
        "places", places,
        "transformer: learn an embedding of each token's place; false: a set network, which plays "
        "envs with any number of tokens once it is trained");
  }
};

/// Linear layers with tanh or ReLU between them, for actor and critic; orthogonal initial weights
/// (gain sqrt 2, 0.01 for the policy's last layer, 1 for the value's) drawn from `seed` alone.
/// Parameters: actor.K.{weight,bias}, critic.K.{weight,bias}, with a shared trunk also trunk.K.*;
/// log_std for box actions; table.NAME where the observation holds names. Where a part counts, the
/// first layer looks its weights up and lies in memory by input.
/// Throws ConfigError when `skip` is not a part with a number per action.
std::unique_ptr<Network> make_mlp(const EnvSpec& spec, const NetConfig& config, std::uint64_t seed);

}  // namespace penstock
