#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "penstock/core/env/spec.h"
#include "penstock/core/fused/ppo_loss.h"

namespace penstock {

/// Where the randomness of a block of actions comes from: row i draws from (seed, first_env + i,
/// step).
struct ActionNoise {
  std::uint64_t seed = 0;
  std::size_t first_env = 0;
  std::uint64_t step = 0;
};

/// A block of actions to be chosen, in lent memory. n rows, D numbers per action.
struct ActionBlock {
  std::span<const float> params;    // [n, P]
  std::span<const bool> legal;      // [n, A]; empty: every action is legal
  std::span<std::int64_t> choices;  // [n, D], discrete kinds
  std::span<float> points;          // [n, D], box: as drawn, before squashing or clipping
  std::span<float> log_prob;        // [n]
};

/// What stands between a network's numbers and an env's action: a masked categorical (one or many
/// choices) or a diagonal Gaussian (plain, clipped on its way to the env; or squashed by tanh).
/// Stateless and const: safe to use from every thread.
class ActionHead {
 public:
  virtual ~ActionHead() = default;
  /// P: how many numbers per row the network must give.
  [[nodiscard]] virtual std::size_t num_params() const = 0;

  /// The actions that it is for, and whether a box is squashed.
  [[nodiscard]] virtual const ActionSpec& spec() const = 0;
  [[nodiscard]] virtual bool squash() const = 0;

  /// Draws actions and their log-probabilities. Throws DataError naming the env when a row has no
  /// legal action or the params are not finite.
  virtual void sample(const ActionBlock& block, const ActionNoise& noise) const = 0;
  /// The most likely action of each row; log_prob is left alone.
  virtual void mode(const ActionBlock& block) const = 0;
  /// Box only: points as the env wants them, inside the bounds.
  virtual void to_env(std::span<const float> points, std::span<float> actions) const = 0;
  /// The same distribution for the fused learner.
  [[nodiscard]] virtual fused::Head fused() const = 0;
};

/// The head for an env's actions. Throws ConfigError when something other than a box is to be
/// squashed.
std::unique_ptr<ActionHead> make_action_head(const ActionSpec& spec, bool squash);

}  // namespace penstock
