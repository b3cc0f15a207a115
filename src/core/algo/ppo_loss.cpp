#include "penstock/core/algo/ppo_loss.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace penstock {
namespace {

at::Tensor value_loss(const PpoTerms& x, double clip) {
  const at::Tensor error = (x.value - x.target).square();
  if (clip <= 0) { return error.mean(); }
  const at::Tensor clipped = x.old_value + (x.value - x.old_value).clamp(-clip, clip);
  return at::max(error, (clipped - x.target).square()).mean();
}

void add_policy_terms(const PpoTerms& x, const PpoLossConfig& config, PpoLoss& loss) {
  const at::Tensor log_ratio = x.log_prob - x.old_log_prob;  // [B]
  const at::Tensor ratio = log_ratio.exp();
  const at::Tensor trusted = ratio.clamp(1 - config.clip, 1 + config.clip);
  loss.policy = -at::min(ratio * x.advantage, trusted * x.advantage).mean();

  const c10::NoGradGuard no_grad;
  loss.approx_kl = (ratio - 1 - log_ratio).mean();
  loss.clip_fraction = (ratio - 1).abs().gt(config.clip).to(at::kFloat).mean();
}

}  // namespace

PpoLoss ppo_loss(const PpoTerms& x, const PpoLossConfig& config) {
  PpoLoss loss;
  if (x.log_prob.defined()) {
    add_policy_terms(x, config, loss);
    loss.entropy = x.entropy.mean();
    loss.total = config.entropy_weight == 0 ? loss.policy
                                            : loss.policy - config.entropy_weight * loss.entropy;
  }
  if (x.value.defined()) {
    loss.value = value_loss(x, config.value_clip);
    const at::Tensor weighted = config.value_weight * loss.value;
    loss.total = loss.total.defined() ? loss.total + weighted : weighted;
  }
  return loss;
}

}  // namespace penstock
