#pragma once
#include <ATen/core/Tensor.h>

#include "penstock/core/act/action_head.h"

namespace penstock {

/// Differentiable terms of a batch of actions.
/// Natural logarithms; sums over the numbers of an action.
struct ActionTerms {
  at::Tensor log_prob;  // [B]
  at::Tensor entropy;   // [B]
};

/// Log-probability and entropy of given actions ([B, D], int64 or float) under a head's params
/// [B, P]; `legal` [B, A] may be undefined. The entropy of a squashed Gaussian is that of the
/// Gaussian before squashing.
ActionTerms action_terms(const ActionHead& head, const at::Tensor& params,
                         const at::Tensor& actions, const at::Tensor& legal);

}  // namespace penstock
