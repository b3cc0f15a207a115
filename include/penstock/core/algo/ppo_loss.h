#pragma once
#include <ATen/core/Tensor.h>

namespace penstock {

/// Bounds and weights of the loss; none is negative.
struct PpoLossConfig {
  double clip = 0.2;            // the ratio counts within [1 - clip, 1 + clip]
  double value_clip = 0.0;      // 0: the value is not clipped
  double value_weight = 0.5;    // of the mean squared error, which has no factor 1/2
  double entropy_weight = 0.0;  // of the mean entropy, which is subtracted
};

/// A minibatch seen by policy and critic, all [B]. What is undefined is left out of the loss:
/// log_prob in an epoch of the value alone, value in an epoch of the policy alone.
struct PpoTerms {
  at::Tensor log_prob;      // of the actions taken, by the policy that learns
  at::Tensor old_log_prob;  // by the policy that acted; constant
  at::Tensor advantage;     // constant, normalised by the caller where that is wanted
  at::Tensor entropy;
  at::Tensor value;      // by the critic that learns
  at::Tensor old_value;  // when the action was chosen; needed only with value_clip
  at::Tensor target;     // constant, what the value should be
};

/// Scalars; those that were left out are undefined.
struct PpoLoss {
  at::Tensor total;          // what backward() is called on
  at::Tensor policy;         // minus the clipped surrogate
  at::Tensor value;          // mean squared error, without its weight
  at::Tensor entropy;        // mean, without its weight
  at::Tensor approx_kl;      // detached; Schulman's estimator (r - 1) - log r
  at::Tensor clip_fraction;  // detached
};

/// The clipped surrogate objective (Schulman et al., 2017), to be minimised. A pure function.
PpoLoss ppo_loss(const PpoTerms& x, const PpoLossConfig& config);

}  // namespace penstock
