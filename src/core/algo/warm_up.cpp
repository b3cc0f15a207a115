#include "penstock/core/algo/warm_up.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <set>

namespace penstock {
namespace {

/// A rollout of one step that any update accepts: everything legal, action 0, smooth numbers.
void fill(Fragment& buffer) {
  const auto ramp = [](const at::Tensor& x) {
    x.copy_(at::linspace(-1, 1, x.numel(), at::kFloat).view(x.sizes()));
  };
  ramp(buffer.obs);
  ramp(buffer.reward);
  buffer.value.zero_();
  buffer.final_value.zero_();
  buffer.terminated.fill_(true);
  buffer.truncated.fill_(false);
  buffer.actions.zero_();
  buffer.log_prob.fill_(-1);
  if (buffer.legal.defined()) { buffer.legal.fill_(true); }
}

void rehearse(const LearnerFactory& factory, Policy& policy, const ActionHead& head,
              const EnvSpec& spec, std::int64_t batch) {
  Fragment fragment(spec, 1, batch);
  fill(fragment);
  fragment.version.fill_(policy.version());  // its own: what is rehearsed is the usual way
  ThreadPool one({.num_threads = 1});
  const Shards whole(batch, 1);
  const LearnerParts parts{
      .policy = policy, .head = head, .shards = whole, .pool = one, .peers = alone()};
  factory.make_rehearsal(parts, batch)->update(fragment, 0);
  const c10::InferenceMode inference;
  policy.replica(0).forward(
      fragment.obs_tensors(0, {.begin = 0, .end = static_cast<std::size_t>(batch)}), Outputs::both);
}

}  // namespace

void warm_up(const LearnerFactory& factory, Policy& policy, const ActionHead& head,
             const Shards& shards, const EnvSpec& spec, std::int64_t num_steps) {
  if (policy.is_fused()) { return; }     // our kernels set nothing up
  std::set<std::int64_t> batches = {1};  // truncated rows are valued one by one
  const auto total = static_cast<std::int64_t>(shards.total_envs()) * num_steps;
  const std::int64_t minibatches = std::max<std::int64_t>(1, total / factory.minibatch(total));
  for (std::size_t s = 0; s < shards.count(); ++s) {
    const std::int64_t envs = shards.range(s).size();
    batches.insert(envs);
    batches.insert(std::max<std::int64_t>(1, envs * num_steps / minibatches));
    batches.insert((envs * num_steps + minibatches - 1) / minibatches);
  }
  const at::Tensor weights = policy.weights().clone();
  const std::int64_t version = policy.version();
  for (const std::int64_t batch : batches) { rehearse(factory, policy, head, spec, batch); }
  policy.weights().copy_(weights);
  policy.weights_changed();
  policy.set_version(version);
}

}  // namespace penstock
