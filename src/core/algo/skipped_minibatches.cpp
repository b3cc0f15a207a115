#include "core/algo/skipped_minibatches.h"

#include <ATen/ATen.h>

#include "penstock/core/base/errors.h"

// Shapes: T steps, N envs, B samples.

namespace penstock {

std::string SkippedMinibatch::file() const {
  return "dump/update-" + std::to_string(update) + "-minibatch-" + std::to_string(minibatch) +
         ".safetensors";
}

namespace detail {
namespace {

constexpr std::int64_t kMostKept = 16;  // of a run: enough to see what they have in common

}  // namespace

SkippedMinibatch skipped_minibatch(const MinibatchRows& rows, std::int64_t update,
                                   std::int64_t minibatch) {
  const at::Tensor index = at::tensor(rows.samples, at::kLong);  // [B]
  const Fragment& rollout = rows.rollout;
  const auto pick = [&](const at::Tensor& x) {  // [T (+1), N, ...] to [B, ...]
    return x.narrow(0, 0, rollout.num_steps()).flatten(0, 1).index_select(0, index);
  };
  const UpdateSums& loss = rows.loss;
  SkippedMinibatch out{.update = update, .minibatch = minibatch};
  out.tensors = {{"index", index},
                 {"obs", pick(rollout.obs)},
                 {"actions", pick(rollout.actions)},
                 {"old_log_prob", pick(rollout.log_prob)},
                 {"old_value", pick(rollout.value)},
                 {"reward", pick(rollout.reward)},
                 {"advantage", pick(rows.targets.advantage)},
                 {"return", pick(rows.targets.value)},
                 {"advantage_normaliser",
                  at::tensor({rows.advantage_mean, rows.advantage_scale}, at::kDouble)},
                 {"loss", at::tensor({loss.policy, loss.value, loss.entropy, loss.kl, loss.clipped,
                                      loss.total},
                                     at::kDouble)}};
  if (rollout.legal.defined()) { out.tensors.emplace_back("legal", pick(rollout.legal)); }
  return out;
}

void SkippedMinibatches::add(const MinibatchRows& rows, std::int64_t update,
                             std::int64_t minibatch) {
  ++total_;
  ++in_a_row_;
  const bool too_many = in_a_row_ >= most_in_a_row_;
  if (total_ <= kMostKept || too_many) {
    kept_.push_back(skipped_minibatch(rows, update, minibatch));
  }
  if (!too_many) { return; }
  throw Error(Exit::failed,
              "update " + std::to_string(update) + ": the loss or its gradient was not finite " +
                  std::to_string(in_a_row_) + " times in a row (" + algorithm_ +
                  ".max_skipped); the rows of the last time are in " + kept_.back().file() +
                  " of the run directory, and the last checkpoint is from before. Try a lower " +
                  algorithm_ + ".learning_rate, a " + algorithm_ +
                  ".max_grad_norm, or normalise.reward = true");
}

void SkippedMinibatches::report(Metrics& metrics) const {
  if (total_ > 0) { metrics.emplace_back("train/skipped_minibatches", total_); }
}

}  // namespace detail
}  // namespace penstock
