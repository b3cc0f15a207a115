#include "penstock/algo/ppo.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "penstock/base/check.h"
#include "penstock/base/errors.h"
#include "penstock/base/random.h"

// Shapes: T steps, N envs, B samples of a minibatch, F features, A alternatives, D action numbers.

namespace penstock {
namespace {

/// What is summed over the minibatches of an update, per shard.
enum Sum : std::int64_t { kPolicy, kValue, kEntropy, kKl, kClipped, kTotal, kNumSums };

double scheduled(double initial, const std::string& schedule, double progress) {
  return schedule == "linear" ? initial * std::max(0.0, 1.0 - progress) : initial;
}

at::Tensor scalar_or_zero(const at::Tensor& x, const at::Tensor& like) {
  return x.defined() ? x.detach() : at::zeros({}, like.options());
}

}  // namespace

/// The rollout as one list of samples, on the policy's device: sample t * N + n.
struct Ppo::Samples {
  at::Tensor obs;        // [T * N, F]
  at::Tensor legal;      // [T * N, A] or undefined
  at::Tensor actions;    // [T * N, D]
  at::Tensor log_prob;   // [T * N]
  at::Tensor value;      // [T * N]
  at::Tensor advantage;  // [T * N]
  at::Tensor target;     // [T * N]
  at::Tensor cpu_advantage;
  std::int64_t num_steps = 0;
  std::int64_t num_envs = 0;

  Samples(const RolloutBuffer& rollout, at::Device device)
      : num_steps(rollout.num_steps()), num_envs(rollout.num_envs()) {
    const std::int64_t count = num_steps * num_envs;
    const auto rows = [&](const at::Tensor& x) {
      return x.narrow(0, 0, num_steps).reshape({count, -1}).to(device);
    };
    const auto column = [&](const at::Tensor& x) { return rows(x).view({count}); };
    obs = rows(rollout.obs);
    if (rollout.legal.defined()) { legal = rows(rollout.legal); }
    actions = rows(rollout.actions);
    log_prob = column(rollout.log_prob);
    value = column(rollout.value);
    advantage = column(rollout.advantage);
    target = column(rollout.target);
    cpu_advantage = rollout.advantage.view({count});
  }
  [[nodiscard]] std::int64_t count() const { return num_steps * num_envs; }
};

/// One pass over the rollout.
struct Ppo::Epoch {
  std::uint64_t number = 0;  // since the run began, for the shuffle
  bool policy = true;
  bool value = true;
  std::int64_t num_minibatches = 1;
  std::vector<std::vector<Moments>> advantages;  // [S][num_minibatches]
  std::vector<double> mean;                      // [num_minibatches], of the whole minibatch
  std::vector<double> scale;                     // 1 / deviation

  /// Shard `size`'s part of minibatch m: [first, second).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> slice(std::int64_t size,
                                                            std::int64_t m) const {
    return {size * m / num_minibatches, size * (m + 1) / num_minibatches};
  }
};

Ppo::Ppo(const PpoConfig& config, Policy& policy, const ActionHead& head, const Shards& shards,
         ThreadPool& pool, std::uint64_t seed)
    : config_(config),
      policy_(policy),
      head_(head),
      shards_(shards),
      pool_(pool),
      seed_(seed),
      adam_(policy, pool, {.epsilon = config.adam_epsilon, .max_grad_norm = config.max_grad_norm}),
      loss_config_{.clip = config.clip,
                   .value_clip = config.value_clip,
                   .value_weight = config.value_weight,
                   .entropy_weight = config.entropy_weight},
      order_(shards.count()),
      sums_(shards.count()) {}

Metrics Ppo::update(const RolloutBuffer& rollout, double progress) {
  const Samples samples(rollout, policy_.device());
  learning_rate_ = scheduled(config_.learning_rate, config_.learning_rate_schedule, progress);
  loss_config_.clip = scheduled(config_.clip, config_.clip_schedule, progress);
  for (at::Tensor& sums : sums_) { sums = at::zeros({kNumSums}, samples.value.options()); }

  const std::int64_t num_epochs = std::max(config_.policy_epochs, config_.value_epochs);
  std::int64_t policy_epochs = config_.policy_epochs;
  num_updates_ = 0;
  for (std::int64_t e = 0; e < num_epochs; ++e) {
    Epoch epoch;
    epoch.number = static_cast<std::uint64_t>(policy_.version() * num_epochs + e);
    epoch.policy = e < policy_epochs;
    epoch.value = e < config_.value_epochs;
    if (!epoch.policy && !epoch.value) { break; }
    epoch.num_minibatches = std::max<std::int64_t>(1, samples.count() / config_.minibatch);
    epoch.advantages.resize(shards_.count());
    const double kl_before = config_.target_kl > 0 ? total_sum(kKl) : 0;
    pool_.run(shards_.count(), [&](std::size_t s) { shuffle(epoch, samples, s); });
    normalise_advantages(epoch);
    for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) { learn_minibatch(samples, epoch, m); }
    ++num_updates_;
    if (config_.target_kl > 0 && epoch.policy) {
      const double kl = (total_sum(kKl) - kl_before) / static_cast<double>(epoch.num_minibatches);
      if (kl > config_.target_kl) { policy_epochs = e + 1; }
    }
  }
  policy_.set_version(policy_.version() + 1);
  return report(samples, std::min(policy_epochs, num_updates_));
}

/// The shard's own permutation, and the moments of its advantages slice by slice.
void Ppo::shuffle(Epoch& epoch, const Samples& samples, std::size_t shard) {
  const EnvRange range = shards_.range(shard);
  const auto size = static_cast<std::int64_t>(range.size()) * samples.num_steps;
  at::Tensor order = at::empty({size}, at::kLong);
  const std::span<std::int64_t> indices(order.data_ptr<std::int64_t>(),
                                        static_cast<std::size_t>(size));
  auto next = indices.begin();
  for (std::int64_t t = 0; t < samples.num_steps; ++t) {
    for (std::size_t n = range.begin; n < range.end; ++n) {
      *next++ = t * samples.num_envs + static_cast<std::int64_t>(n);
    }
  }
  Random random({.seed = seed_,
                 .owner = static_cast<std::uint32_t>(shard),
                 .episode = epoch.number,
                 .stream = Stream::shuffle});
  for (std::size_t i = indices.size(); i > 1; --i) {
    std::swap(indices[i - 1], indices[random.below(static_cast<std::uint32_t>(i))]);
  }
  const float* advantage = samples.cpu_advantage.data_ptr<float>();
  std::vector<Moments>& moments = epoch.advantages[shard];
  moments.assign(static_cast<std::size_t>(epoch.num_minibatches), {});
  for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) {
    const auto [begin, end] = epoch.slice(size, m);
    for (std::int64_t i = begin; i < end; ++i) {
      moments[static_cast<std::size_t>(m)].add(advantage[indices[static_cast<std::size_t>(i)]]);
    }
  }
  order_[shard] = order.to(policy_.device());
}

void Ppo::normalise_advantages(Epoch& epoch) const {
  tree_reduce(std::span(epoch.advantages),
              [](std::vector<Moments>& a, const std::vector<Moments>& b) {
                for (std::size_t m = 0; m < a.size(); ++m) { a[m].merge(b[m]); }
              });
  for (const Moments& whole : epoch.advantages[0]) {
    // The unbiased deviation, as torch.std and so every PPO around computes it.
    const double deviation = std::sqrt(whole.m2 / std::max(1.0, whole.count - 1));
    epoch.mean.push_back(config_.normalise_advantage ? whole.mean : 0.0);
    epoch.scale.push_back(config_.normalise_advantage ? 1.0 / (deviation + 1e-8) : 1.0);
  }
}

void Ppo::learn_minibatch(const Samples& samples, const Epoch& epoch, std::int64_t minibatch) {
  pool_.run(shards_.count(), [&](std::size_t s) { shard_gradient(samples, epoch, s, minibatch); });
  adam_.step(learning_rate_);
}

void Ppo::shard_gradient(const Samples& samples, const Epoch& epoch, std::size_t shard,
                         std::int64_t minibatch) {
  policy_.gradient(shard).zero_();
  const auto [begin, end] = epoch.slice(order_[shard].numel(), minibatch);
  if (begin == end) { return; }
  const at::Tensor index = order_[shard].narrow(0, begin, end - begin);
  const auto pick = [&](const at::Tensor& x) { return x.index_select(0, index); };
  const Want want = !epoch.value ? Want::policy : !epoch.policy ? Want::value : Want::both;
  const at::Tensor legal = samples.legal.defined() ? pick(samples.legal) : at::Tensor();
  const NetworkOutput out = policy_.replica(shard).forward({pick(samples.obs), legal}, want);

  PpoTerms terms;
  const auto m = static_cast<std::size_t>(minibatch);
  if (epoch.policy) {
    const ActionTerms action = head_.evaluate(out.params, pick(samples.actions), legal);
    terms.log_prob = action.log_prob;
    terms.entropy = action.entropy;
    terms.old_log_prob = pick(samples.log_prob);
    terms.advantage = pick(samples.advantage).sub_(epoch.mean[m]).mul_(epoch.scale[m]);
  }
  if (epoch.value) {
    terms.value = out.value;
    terms.target = pick(samples.target);
    if (loss_config_.value_clip > 0) { terms.old_value = pick(samples.value); }
  }
  const PpoLoss loss = ppo_loss(terms, loss_config_);
  // Each shard's mean counts by its share, so the shards' gradients add up to the minibatch's.
  const double share = static_cast<double>(end - begin) / epoch.advantages[0][m].count;
  (loss.total * share).backward();

  const c10::NoGradGuard no_grad;
  const at::Tensor& like = samples.value;
  sums_[shard].add_(
      at::stack({scalar_or_zero(loss.policy, like), scalar_or_zero(loss.value, like),
                 scalar_or_zero(loss.entropy, like), scalar_or_zero(loss.approx_kl, like),
                 scalar_or_zero(loss.clip_fraction, like), loss.total.detach()}),
      share);
}

double Ppo::total_sum(std::int64_t which) const {
  std::vector<double> parts;
  for (const at::Tensor& sums : sums_) { parts.push_back(sums[which].item<double>()); }
  tree_reduce(std::span(parts), [](double& a, double b) { a += b; });
  return parts[0];
}

Metrics Ppo::report(const Samples& samples, std::int64_t policy_epochs) const {
  const auto minibatches =
      static_cast<double>(std::max<std::int64_t>(1, samples.count() / config_.minibatch));
  const double policy_steps = std::max(1.0, minibatches * static_cast<double>(policy_epochs));
  const double value_steps = std::max(1.0, minibatches * static_cast<double>(config_.value_epochs));
  const double loss =
      total_sum(kTotal) / std::max(1.0, minibatches * static_cast<double>(num_updates_));
  if (!std::isfinite(loss)) {
    throw Error(Exit::failed,
                "the loss is not finite at update " + std::to_string(policy_.version()) +
                    "; the last checkpoint is from before it. Try a lower ppo.learning_rate, a "
                    "ppo.max_grad_norm, or normalise.reward = true");
  }
  const at::Tensor error = samples.target - samples.value;
  const double spread = samples.target.var(false).item<double>();
  return {{"train/approx_kl", total_sum(kKl) / policy_steps},
          {"train/clip_fraction", total_sum(kClipped) / policy_steps},
          {"train/clip_range", loss_config_.clip},
          {"train/entropy_loss", -total_sum(kEntropy) / policy_steps},
          {"train/explained_variance",
           spread > 0 ? 1.0 - error.var(false).item<double>() / spread : std::nan("")},
          {"train/learning_rate", learning_rate_},
          {"train/loss", loss},
          {"train/policy_gradient_loss", total_sum(kPolicy) / policy_steps},
          {"train/value_loss", total_sum(kValue) / value_steps}};
}

}  // namespace penstock
