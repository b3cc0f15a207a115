#include "core/algo/gradients.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/tree_reduce.h"

namespace penstock::detail {

void UpdateSums::add(const UpdateSums& other) {
  policy += other.policy;
  value += other.value;
  entropy += other.entropy;
  kl += other.kl;
  clipped += other.clipped;
  total += other.total;
}

UpdateSums UpdateSums::minus(const UpdateSums& other) const {
  return {policy - other.policy, value - other.value,     entropy - other.entropy,
          kl - other.kl,         clipped - other.clipped, total - other.total};
}

std::unique_ptr<Gradients> make_gradients(Policy& policy, const ActionHead& head) {
  return policy.is_fused() ? make_fused_gradients(policy, head)
                           : make_eager_gradients(policy, head);
}

void list_samples(EnvRange range, std::int64_t num_steps, std::int64_t num_envs,
                  std::vector<std::int64_t>& out) {
  out.resize(range.size() * num_steps);
  auto next = out.begin();
  for (std::int64_t t = 0; t < num_steps; ++t) {
    for (std::size_t n = range.begin; n < range.end; ++n) { *next++ = t * num_envs + n; }
  }
}

Moments moments_of(std::span<const float> values, std::span<const std::int64_t> chosen) {
  Moments moments;
  if (chosen.empty()) { return moments; }
  double sum = 0;
  for (const std::int64_t i : chosen) { sum += values[i]; }
  moments.count = chosen.size();
  moments.mean = sum / moments.count;
  for (const std::int64_t i : chosen) {
    const double delta = values[i] - moments.mean;
    moments.m2 += delta * delta;
  }
  return moments;
}

std::span<const float> floats(const at::Tensor& tensor, std::int64_t count) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(count)};
}

Judge judge_by(Gradients& gradients, const Shards& shards) {
  return [&](const Fragment& fragment, std::size_t shard, const Judgement& into) {
    gradients.judge(fragment, shard, shards.range(shard), into);
  };
}

UpdateSums total_sums(const Gradients& gradients, const Shards& shards, Peers& peers) {
  std::vector<UpdateSums> parts;
  for (std::size_t s = 0; s < shards.count(); ++s) { parts.push_back(gradients.sums(s)); }
  tree_reduce(std::span(parts), [](UpdateSums& a, const UpdateSums& b) { a.add(b); });
  const UpdateSums& x = parts[0];
  std::array<double, 6> all = {x.policy, x.value, x.entropy, x.kl, x.clipped, x.total};
  peers.sum(std::span<double>(all));
  return {all[0], all[1], all[2], all[3], all[4], all[5]};
}

void Fit::add(std::span<const float> values, std::span<const float> targets) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    spread.add(targets[i]);
    error.add(double{targets[i]} - values[i]);
  }
}

double Fit::explained() const { return spread.m2 > 0 ? 1.0 - error.m2 / spread.m2 : std::nan(""); }

double explained_variance(const Fragment& rollout, const Targets& targets,
                          const LearnerParts& parts) {
  std::vector<Fit> shards(parts.shards.count());
  parts.pool.run(shards.size(), [&](std::size_t s) {
    const EnvRange range = parts.shards.range(s);
    for (std::int64_t t = 0; t < rollout.num_steps(); ++t) {
      shards[s].add(rollout.rows<const float>(rollout.value, t, range),
                    rollout.rows<const float>(targets.value, t, range));
    }
  });
  tree_reduce(std::span(shards), [](Fit& a, const Fit& b) {
    a.spread.merge(b.spread);
    a.error.merge(b.error);
  });
  std::array<Moments, 2> whole = {shards[0].spread, shards[0].error};
  parts.peers.merge(whole);
  return Fit{whole[0], whole[1]}.explained();
}

void spoil_unless_finite(const Gradients& gradients, Policy& policy, std::size_t shard) {
  if (!gradients.loss_is_finite(shard)) {
    policy.gradient(shard).fill_(std::numeric_limits<float>::quiet_NaN());
  }
}

UpdateSums forget_minibatch(Gradients& gradients, Policy& policy) {
  UpdateSums loss;
  for (std::size_t s = 0; s < policy.num_shards(); ++s) {
    loss.add(gradients.take_back(s));
    policy.gradient(s).zero_();  // the gaps between parameters too, which kernels may leave
  }
  return loss;
}

void require_finite(double loss, std::int64_t update, const std::string& algorithm) {
  if (std::isfinite(loss)) { return; }
  throw Error(Exit::failed, "the loss is not finite at update " + std::to_string(update) +
                                "; the last checkpoint is from before it. Try a lower " +
                                algorithm + ".learning_rate, a " + algorithm +
                                ".max_grad_norm, or normalise.reward = true");
}

}  // namespace penstock::detail
