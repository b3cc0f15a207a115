#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "penstock/core/fused/aligned.h"
#include "penstock/core/fused/mlp.h"

namespace penstock::fused {

/// The action distribution on top of a fused network.
struct Head {
  std::vector<std::size_t> choices;  // alternatives of each choice; empty: a box
  std::size_t dims = 0;              // numbers per action
  bool masked = false;               // illegal alternatives have probability 0
  bool squash = false;               // a box policy squashed by tanh
  double squash_log_scale = 0;       // sum of log((high - low) / 2)
};

/// What the loss needs to know of a chunk's samples, by columns of Mlp::kChunk.
struct LossInputs {
  explicit LossInputs(const Head& head);

  AlignedFloats actions;       // [D, kChunk], choices as numbers
  AlignedFloats legal;         // [A, kChunk] 1 or 0; empty when not masked
  AlignedFloats old_log_prob;  // [kChunk]
  AlignedFloats advantage;     // [kChunk], normalised
  AlignedFloats target;        // [kChunk]
  AlignedFloats old_value;     // [kChunk]
  AlignedFloats scratch;       // [2, max(D, 1), kChunk]
};

/// As penstock::PpoLossConfig, with the weight of a row.
struct LossConfig {
  float clip = 0.2F;
  float value_clip = 0;  // 0: the value is not clipped
  float value_weight = 0.5F;
  float entropy_weight = 0;
  float row_weight = 1;  // 1 / samples of the whole minibatch
};

/// Sums over rows, to be multiplied by row_weight.
struct LossSums {
  double policy = 0;
  double value = 0;
  double entropy = 0;
  double kl = 0;
  double clipped = 0;
};

/// The clipped surrogate and the value loss of a chunk that forward() has seen: writes the deltas
/// for backward() and adds to the sums. The same function as penstock::ppo_loss, which autograd
/// differentiates.
void ppo_loss(const Head& head, const LossInputs& inputs, const LossConfig& config, Parts parts,
              std::size_t rows, Mlp& mlp, LossSums& sums);

/// The log-probabilities of the inputs' actions, of a chunk that forward() has seen: `rows`
/// numbers, and room for kChunk.
void log_prob(const Head& head, const LossInputs& inputs, std::size_t rows, const Mlp& mlp,
              float* into);

}  // namespace penstock::fused
