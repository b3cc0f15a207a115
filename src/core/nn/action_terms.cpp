#include "penstock/core/nn/action_terms.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

namespace penstock {
namespace {

// Finite, because 0 * log 0 must stay 0 in the entropy; far enough that exp() of it is 0.
constexpr float kIllegal = -1e9F;
const double kHalfLog2Pi = 0.5 * std::log(2 * std::numbers::pi);

ActionTerms categorical_terms(const std::vector<std::int64_t>& choices, const at::Tensor& params,
                              const at::Tensor& actions, const at::Tensor& legal) {
  const at::Tensor logits =
      legal.defined() ? params.masked_fill(legal.logical_not(), kIllegal) : params;
  ActionTerms sum;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < choices.size(); ++d) {
    const at::Tensor log_p = logits.narrow(1, offset, choices[d]).log_softmax(1);  // [B, n]
    const std::int64_t column = d;
    const at::Tensor log_prob = log_p.gather(1, actions.narrow(1, column, 1)).squeeze(1);
    const at::Tensor entropy = -(log_p.exp() * log_p).sum(1);
    sum.log_prob = d == 0 ? log_prob : sum.log_prob + log_prob;
    sum.entropy = d == 0 ? entropy : sum.entropy + entropy;
    offset += choices[d];
  }
  return sum;
}

ActionTerms gaussian_terms(const Box& box, bool squash, const at::Tensor& params,
                           const at::Tensor& actions) {
  const std::int64_t dims = box.low.size();
  const at::Tensor mean = params.narrow(1, 0, dims);
  const at::Tensor log_std = params.narrow(1, dims, dims);
  const at::Tensor z = (actions - mean) * (-log_std).exp();
  at::Tensor log_prob = (z.square() * -0.5 - log_std - kHalfLog2Pi).sum(1);
  if (squash) {
    // A change of variables that depends on the action only: it cancels in ratios, but log_prob
    // stays the log-density of what the env received.
    log_prob = log_prob - (2 * (std::numbers::ln2 - actions - at::softplus(-2 * actions))).sum(1);
    for (std::size_t d = 0; d < box.low.size(); ++d) {
      log_prob = log_prob - std::log(0.5 * (box.high[d] - box.low[d]));
    }
  }
  return {log_prob, (log_std + (0.5 + kHalfLog2Pi)).sum(1)};
}

}  // namespace

ActionTerms action_terms(const ActionHead& head, const at::Tensor& params,
                         const at::Tensor& actions, const at::Tensor& legal) {
  const ActionSpec& spec = head.spec();
  return spec.continuous() ? gaussian_terms(spec.box(), head.squash(), params, actions)
                           : categorical_terms(spec.choices(), params, actions, legal);
}

}  // namespace penstock
