#include "penstock/algo/ppo.h"

#include <algorithm>
#include <cmath>

#include "algo/gradients.h"
#include "penstock/base/check.h"
#include "penstock/base/errors.h"
#include "penstock/base/random.h"
#include "penstock/base/shuffle.h"

// Shapes: T steps, N envs, S shards.

namespace penstock {
namespace {

double scheduled(double initial, const std::string& schedule, double progress) {
  return schedule == "linear" ? initial * std::max(0.0, 1.0 - progress) : initial;
}

/// In two passes: no division per number, and no cancellation.
Moments moments_of(std::span<const float> values, std::span<const std::int64_t> chosen) {
  Moments moments;
  if (chosen.empty()) { return moments; }
  double sum = 0;
  for (const std::int64_t i : chosen) { sum += values[static_cast<std::size_t>(i)]; }
  moments.count = static_cast<double>(chosen.size());
  moments.mean = sum / moments.count;
  for (const std::int64_t i : chosen) {
    const double delta = values[static_cast<std::size_t>(i)] - moments.mean;
    moments.m2 += delta * delta;
  }
  return moments;
}

/// The share of the targets' variance that the values explain; NaN when there is none.
double explained_variance(std::span<const float> values, std::span<const float> targets) {
  Moments spread;
  Moments error;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    spread.add(targets[i]);
    error.add(double{targets[i]} - values[i]);
  }
  return spread.m2 > 0 ? 1.0 - error.m2 / spread.m2 : std::nan("");
}

std::span<const float> floats(const at::Tensor& tensor, std::int64_t count) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(count)};
}

}  // namespace

/// One pass over the rollout.
struct Ppo::Epoch {
  std::uint64_t number = 0;  // since the run began, for the shuffle
  std::int64_t num_steps = 0;
  std::int64_t num_envs = 0;
  std::span<const float> advantage;  // [T * N]
  bool policy = true;
  bool value = true;
  std::int64_t num_minibatches = 1;
  std::vector<std::vector<Moments>> advantages;  // [S][num_minibatches]
  std::vector<double> mean;                      // [num_minibatches], of the whole minibatch
  std::vector<double> scale;                     // 1 / deviation

  /// The part of a shard's order that minibatch m takes.
  [[nodiscard]] std::span<const std::int64_t> slice(const std::vector<std::int64_t>& order,
                                                    std::int64_t m) const {
    const auto size = static_cast<std::int64_t>(order.size());
    const std::int64_t begin = size * m / num_minibatches;
    const std::int64_t end = size * (m + 1) / num_minibatches;
    return std::span(order).subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(end - begin));
  }
};

Ppo::Ppo(const PpoConfig& config, Policy& policy, const ActionHead& head, const Shards& shards,
         ThreadPool& pool, std::uint64_t seed)
    : config_(config),
      policy_(policy),
      shards_(shards),
      pool_(pool),
      seed_(seed),
      adam_(policy, pool,
            {.beta2 = config.adam_beta2,
             .epsilon = config.adam_epsilon,
             .max_grad_norm = config.max_grad_norm}),
      gradients_(policy.is_fused() ? detail::make_fused_gradients(policy, head)
                                   : detail::make_eager_gradients(policy, head)),
      loss_config_{.clip = config.clip,
                   .value_clip = config.value_clip,
                   .value_weight = config.value_weight,
                   .entropy_weight = config.entropy_weight},
      order_(shards.count()) {}

Ppo::~Ppo() = default;

Metrics Ppo::update(const RolloutBuffer& rollout, double progress) {
  const std::int64_t count = rollout.num_steps() * rollout.num_envs();
  learning_rate_ = scheduled(config_.learning_rate, config_.learning_rate_schedule, progress);
  loss_config_.clip = scheduled(config_.clip, config_.clip_schedule, progress);
  gradients_->begin(rollout, loss_config_);

  const std::int64_t num_epochs = std::max(config_.policy_epochs, config_.value_epochs);
  std::int64_t policy_epochs = config_.policy_epochs;
  num_epochs_run_ = 0;
  Epoch epoch;
  epoch.num_steps = rollout.num_steps();
  epoch.num_envs = rollout.num_envs();
  epoch.advantage = floats(rollout.advantage, count);
  epoch.num_minibatches = std::max<std::int64_t>(1, count / config_.minibatch);
  epoch.advantages.resize(shards_.count());
  for (std::int64_t e = 0; e < num_epochs; ++e) {
    epoch.number = static_cast<std::uint64_t>(policy_.version() * num_epochs + e);
    epoch.policy = e < policy_epochs;
    epoch.value = e < config_.value_epochs;
    if (!epoch.policy && !epoch.value) { break; }
    const double kl_before = config_.target_kl > 0 ? total_sums().kl : 0;
    run_epoch(epoch);
    ++num_epochs_run_;
    if (config_.target_kl > 0 && epoch.policy) {
      const double kl = (total_sums().kl - kl_before) / static_cast<double>(epoch.num_minibatches);
      if (kl > config_.target_kl) { policy_epochs = e + 1; }
    }
  }
  adam_.settle();
  policy_.set_version(policy_.version() + 1);
  return report(rollout, std::min(policy_epochs, num_epochs_run_));
}

void Ppo::run_epoch(Epoch& epoch) {
  pool_.run(shards_.count(), [&](std::size_t s) { shuffle(epoch, s); });
  normalise_advantages(epoch);
  for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) { learn_minibatch(epoch, m); }
}

/// The shard's own permutation, and the moments of its advantages slice by slice.
void Ppo::shuffle(Epoch& epoch, std::size_t shard) {
  const EnvRange range = shards_.range(shard);
  const std::int64_t size = static_cast<std::int64_t>(range.size()) * epoch.num_steps;
  std::vector<std::int64_t>& indices = order_[shard];
  indices.resize(static_cast<std::size_t>(size));
  auto next = indices.begin();
  for (std::int64_t t = 0; t < epoch.num_steps; ++t) {
    for (std::size_t n = range.begin; n < range.end; ++n) {
      *next++ = t * epoch.num_envs + static_cast<std::int64_t>(n);
    }
  }
  Random random({.seed = seed_,
                 .owner = static_cast<std::uint32_t>(shard),
                 .episode = epoch.number,
                 .stream = Stream::shuffle});
  penstock::shuffle(indices, random);
  std::vector<Moments>& moments = epoch.advantages[shard];
  moments.clear();
  for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) {
    moments.push_back(moments_of(epoch.advantage, epoch.slice(indices, m)));
  }
}

void Ppo::normalise_advantages(Epoch& epoch) const {
  tree_reduce(std::span(epoch.advantages),
              [](std::vector<Moments>& a, const std::vector<Moments>& b) {
                for (std::size_t m = 0; m < a.size(); ++m) { a[m].merge(b[m]); }
              });
  epoch.mean.clear();
  epoch.scale.clear();
  for (const Moments& whole : epoch.advantages[0]) {
    // The unbiased deviation, as torch.std and so every PPO around computes it.
    const double deviation = std::sqrt(whole.m2 / std::max(1.0, whole.count - 1));
    epoch.mean.push_back(config_.normalise_advantage ? whole.mean : 0.0);
    epoch.scale.push_back(config_.normalise_advantage ? 1.0 / (deviation + 1e-8) : 1.0);
  }
}

void Ppo::learn_minibatch(const Epoch& epoch, std::int64_t minibatch) {
  const auto m = static_cast<std::size_t>(minibatch);
  pool_.run(shards_.count(), [&](std::size_t s) {
    gradients_->compute({.shard = s,
                         .samples = epoch.slice(order_[s], minibatch),
                         .count = epoch.advantages[0][m].count,
                         .advantage_mean = epoch.mean[m],
                         .advantage_scale = epoch.scale[m],
                         .policy = epoch.policy,
                         .value = epoch.value});
  });
  adam_.step(learning_rate_, detail::learnt(epoch.policy, epoch.value));
}

detail::UpdateSums Ppo::total_sums() const {
  std::vector<detail::UpdateSums> parts;
  for (std::size_t s = 0; s < shards_.count(); ++s) { parts.push_back(gradients_->sums(s)); }
  tree_reduce(std::span(parts),
              [](detail::UpdateSums& a, const detail::UpdateSums& b) { a.add(b); });
  return parts[0];
}

Metrics Ppo::report(const RolloutBuffer& rollout, std::int64_t policy_epochs) const {
  const std::int64_t count = rollout.num_steps() * rollout.num_envs();
  const auto minibatches =
      static_cast<double>(std::max<std::int64_t>(1, count / config_.minibatch));
  const auto steps = [&](std::int64_t epochs) {
    return std::max(1.0, minibatches * static_cast<double>(epochs));
  };
  const detail::UpdateSums sums = total_sums();
  const double loss = sums.total / steps(num_epochs_run_);
  if (!std::isfinite(loss)) {
    throw Error(Exit::failed,
                "the loss is not finite at update " + std::to_string(policy_.version()) +
                    "; the last checkpoint is from before it. Try a lower ppo.learning_rate, a "
                    "ppo.max_grad_norm, or normalise.reward = true");
  }
  return {{"train/approx_kl", sums.kl / steps(policy_epochs)},
          {"train/clip_fraction", sums.clipped / steps(policy_epochs)},
          {"train/clip_range", loss_config_.clip},
          {"train/entropy_loss", -sums.entropy / steps(policy_epochs)},
          {"train/explained_variance",
           explained_variance(floats(rollout.value, count), floats(rollout.target, count))},
          {"train/learning_rate", learning_rate_},
          {"train/loss", loss},
          {"train/policy_gradient_loss", sums.policy / steps(policy_epochs)},
          {"train/value_loss", sums.value / steps(config_.value_epochs)}};
}

}  // namespace penstock
