#pragma once
#include <ATen/core/Tensor.h>

namespace penstock {

struct PpoLossConfig {
  double clip = 0.2;
  double value_clip = 0.0;  // 0: the value is not clipped
  double value_weight = 0.5;
  double entropy_weight = 0.0;
};

/// A minibatch seen by policy and critic, all [B]. What is undefined is left out of the loss:
/// log_prob in an epoch of the value alone, value in an epoch of the policy alone.
struct PpoTerms {
  at::Tensor log_prob;
  at::Tensor old_log_prob;
  at::Tensor advantage;
  at::Tensor entropy;
  at::Tensor value;
  at::Tensor old_value;
  at::Tensor target;
};

/// Scalars; those that were left out are undefined.
struct PpoLoss {
  at::Tensor total;
  at::Tensor policy;
  at::Tensor value;
  at::Tensor entropy;
  at::Tensor approx_kl;      // detached; Schulman's estimator (r - 1) - log r
  at::Tensor clip_fraction;  // detached
};

/// The clipped surrogate objective (Schulman et al., 2017), to be minimised. A pure function.
PpoLoss ppo_loss(const PpoTerms& x, const PpoLossConfig& config);

}  // namespace penstock
