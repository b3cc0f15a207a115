#include "penstock/core/algo/gae_targets.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "penstock/core/base/tree_reduce.h"

// Shapes: T steps, N envs, S shards.

namespace penstock {
namespace {

template <class T>
std::span<T> span_of(const at::Tensor& tensor) {
  return {static_cast<T*>(tensor.data_ptr()), static_cast<std::size_t>(tensor.numel())};
}

/// How far an older policy's choice counts: in full where this one would have made it as often.
constexpr float kMostTrust = 1.0F;

/// `ratio` is not looked at unless `Corrected`, so that plain GAE stays the loop that it was.
template <bool Corrected>
void target_step(const Fragment& fragment, std::span<const float> ratio, std::int64_t t,
                 EnvRange range, const GaeConfig& config, std::span<float> running,
                 const Targets& into) {
  const float discount = config.gamma;
  const float trace = config.gamma * config.lambda;
  const auto value = fragment.rows<const float>(fragment.value, t, range);
  const auto next_value = fragment.rows<const float>(fragment.value, t + 1, range);
  const auto final_value = fragment.rows<const float>(fragment.final_value, t, range);
  const auto reward = fragment.rows<const float>(fragment.reward, t, range);
  const auto terminated = fragment.rows<const bool>(fragment.terminated, t, range);
  const auto truncated = fragment.rows<const bool>(fragment.truncated, t, range);
  const auto advantages = fragment.rows<float>(into.advantage, t, range);
  const auto targets = fragment.rows<float>(into.value, t, range);
  for (std::size_t i = 0; i < range.size(); ++i) {
    const float future = terminated[i] ? 0.0F : truncated[i] ? final_value[i] : next_value[i];
    const float carried = terminated[i] || truncated[i] ? 0.0F : running[i];
    const float delta = reward[i] + discount * future - value[i];
    running[i] = delta + trace * carried;
    if constexpr (Corrected) { running[i] *= std::min(ratio[i], kMostTrust); }
    advantages[i] = running[i];
    targets[i] = running[i] + value[i];
  }
}

}  // namespace

void compute_gae(const Fragment& fragment, EnvRange range, const GaeConfig& config,
                 const Targets& into) {
  std::vector<float> running(range.size(), 0.0F);
  for (std::int64_t t = fragment.num_steps() - 1; t >= 0; --t) {
    target_step<false>(fragment, {}, t, range, config, running, into);
  }
}

void vtrace_step(const Fragment& fragment, std::span<const float> ratio, std::int64_t t,
                 EnvRange range, const GaeConfig& config, std::span<float> running,
                 const Targets& into) {
  target_step<true>(fragment, ratio, t, range, config, running, into);
}

void compute_vtrace(const Fragment& fragment, const at::Tensor& ratio, EnvRange range,
                    const GaeConfig& config, const Targets& into) {
  std::vector<float> running(range.size(), 0.0F);
  for (std::int64_t t = fragment.num_steps() - 1; t >= 0; --t) {
    vtrace_step(fragment, fragment.rows<const float>(ratio, t, range), t, range, config, running,
                into);
  }
}

GaeTargets::GaeTargets(const LearnerParts& parts, const GaeConfig& config)
    : parts_(parts),
      config_(config),
      rewards_(parts.shards.num_envs(), config.gamma, parts.clip_reward) {}

const Targets& GaeTargets::prepare(Fragment& fragment) {
  at::Tensor& advantage = targets_.advantage;
  if (!advantage.defined() || advantage.sizes() != fragment.reward.sizes()) {
    advantage = at::zeros_like(fragment.reward);
    targets_.value = at::zeros_like(fragment.reward);
  }
  if (parts_.scale_rewards) { scale_rewards(fragment); }
  return targets_;
}

const Targets& GaeTargets::compute(Fragment& fragment, const Judge& judge) {
  prepare(fragment);
  if (is_old(fragment)) {
    correct(fragment, judge);
    return targets_;
  }
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) {
    compute_gae(fragment, parts_.shards.range(s), config_, targets_);
  });
  return targets_;
}

bool GaeTargets::is_old(const Fragment& fragment) const {
  const std::int64_t now = parts_.policy.version();
  return std::ranges::any_of(span_of<const std::int64_t>(fragment.version),
                             [now](std::int64_t version) { return version != now; });
}

/// A task per shard: judge its rows, weigh them, put what was judged into the fragment.
void GaeTargets::correct(Fragment& fragment, const Judge& judge) {
  if (!judgement_.value.defined() || judgement_.value.sizes() != fragment.value.sizes()) {
    judgement_ = {at::zeros_like(fragment.log_prob), at::zeros_like(fragment.value)};
  }
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) {
    const EnvRange range = parts_.shards.range(s);
    judge(fragment, s, judgement_);
    for (std::int64_t t = 0; t <= fragment.num_steps(); ++t) {
      std::ranges::copy(fragment.rows<const float>(judgement_.value, t, range),
                        fragment.rows<float>(fragment.value, t, range).begin());
      if (t == fragment.num_steps()) { break; }
      const auto now = fragment.rows<float>(judgement_.log_prob, t, range);
      const auto then = fragment.rows<float>(fragment.log_prob, t, range);
      for (std::size_t i = 0; i < range.size(); ++i) {
        // The ratio takes the place of what was judged, which takes that of what was sampled.
        const float ratio = std::exp(now[i] - then[i]);
        then[i] = std::exchange(now[i], ratio);
      }
    }
    compute_vtrace(fragment, judgement_.log_prob, range, config_, targets_);
  });
}

void GaeTargets::scale_rewards(Fragment& fragment) {
  const at::Tensor ended = fragment.terminated.logical_or(fragment.truncated);
  const auto rewards = span_of<float>(fragment.reward);
  std::vector<Moments> tally(parts_.shards.count());
  parts_.pool.run(tally.size(), [&](std::size_t s) {
    rewards_.tally(rewards, span_of<const bool>(ended), parts_.shards.range(s), tally[s]);
  });
  tree_reduce(std::span(tally), [](Moments& a, const Moments& b) { a.merge(b); });
  parts_.peers.merge(std::span(tally).first(1));
  rewards_.merge(tally[0]);
  parts_.pool.run(tally.size(),
                  [&](std::size_t s) { rewards_.apply(rewards, parts_.shards.range(s)); });
}

void GaeTargets::save(LearnerState& state) const {
  const Moments& m = rewards_.moments();
  state.tensors.push_back(
      {"envs", "reward.moments", at::tensor({m.count, m.mean, m.m2}, at::kDouble)});
  state.tensors.push_back(
      {"envs", "reward.returns", at::tensor(rewards_.returns(), at::kDouble), true});
}

void GaeTargets::load(const LearnerState& state) {
  const auto moments = span_of<const double>(state.at("reward.moments"));
  rewards_.set_moments({moments[0], moments[1], moments[2]});
  std::ranges::copy(span_of<const double>(state.at("reward.returns")), rewards_.returns().begin());
}

}  // namespace penstock
