#include "penstock/core/algo/ppo.h"

#include <algorithm>
#include <cmath>

#include "core/algo/async_factory.h"
#include "core/algo/gradients.h"
#include "core/algo/schedule.h"
#include "core/algo/skipped_minibatches.h"
#include "penstock/core/base/check.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/shuffle.h"

// Shapes: T steps, N envs, S shards.

namespace penstock {
namespace {

constexpr const char* kRateKey = "ppo.learning_rate_schedule";
constexpr const char* kClipKey = "ppo.clip_schedule";

}  // namespace

/// One pass over the rollout.
struct Ppo::Epoch {
  const Fragment& rollout;
  const Targets& targets;
  std::uint64_t number = 0;     // since the run began, for the shuffle
  std::int64_t in_update = 0;   // the same, of the update
  std::int64_t num_learnt = 0;  // minibatches so far
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
    const std::int64_t size = order.size();
    const std::int64_t begin = size * m / num_minibatches;
    const std::int64_t end = size * (m + 1) / num_minibatches;
    return std::span(order).subspan(begin, end - begin);
  }
};

Ppo::Ppo(const PpoConfig& config, const LearnerParts& parts)
    : config_(config),
      parts_(parts),
      targets_(parts, {.gamma = config.gamma, .lambda = config.gae_lambda}),
      adam_(parts.policy, parts.pool, parts.peers,
            {.beta2 = config.adam_beta2,
             .epsilon = config.adam_epsilon,
             .max_grad_norm = config.max_grad_norm}),
      gradients_(detail::make_gradients(parts.policy, parts.head)),
      loss_config_{.clip = config.clip,
                   .value_clip = config.value_clip,
                   .value_weight = config.value_weight,
                   .entropy_weight = config.entropy_weight},
      order_(parts.shards.count()),
      skipped_(std::make_unique<detail::SkippedMinibatches>(config.max_skipped, "ppo")) {}

Ppo::~Ppo() = default;

LearnerState Ppo::save() const {
  LearnerState state;
  adam_.save(state);
  targets_.save(state);
  return state;
}

void Ppo::load(const LearnerState& state) {
  adam_.load(state);
  targets_.load(state);
}

Metrics Ppo::update(Fragment& rollout, double progress) {
  const Targets& targets = targets_.compute(rollout, detail::judge_by(*gradients_, parts_.shards));
  learning_rate_ = config_.learning_rate * detail::Schedule(config_.learning_rate_schedule,
                                                            kRateKey, config_.warm_up)(progress);
  loss_config_.clip = config_.clip * detail::Schedule(config_.clip_schedule, kClipKey)(progress);
  gradients_->begin(rollout, targets, loss_config_);

  const std::int64_t num_epochs = std::max(config_.policy_epochs, config_.value_epochs);
  std::int64_t policy_epochs = config_.policy_epochs;
  learnt_ = {};
  Epoch epoch{.rollout = rollout, .targets = targets};
  epoch.num_steps = rollout.num_steps();
  epoch.num_envs = rollout.num_envs();
  epoch.advantage = detail::floats(targets.advantage, rollout.num_samples());
  epoch.num_minibatches = num_minibatches(rollout);
  epoch.advantages.resize(parts_.shards.count());
  for (std::int64_t e = 0; e < num_epochs; ++e) {
    epoch.number = parts_.policy.version() * num_epochs + e;
    epoch.in_update = e;
    epoch.policy = e < policy_epochs;
    epoch.value = e < config_.value_epochs;
    if (!epoch.policy && !epoch.value) { break; }
    const double kl_before = config_.target_kl > 0 ? total_sums().kl : 0;
    run_epoch(epoch);
    if (config_.target_kl > 0 && epoch.policy) {
      const double kl = (total_sums().kl - kl_before) / std::max<std::int64_t>(1, epoch.num_learnt);
      if (kl > config_.target_kl) { policy_epochs = e + 1; }
    }
  }
  adam_.catch_up();
  parts_.policy.set_version(parts_.policy.version() + 1);
  return report(rollout, targets);
}

std::vector<SkippedMinibatch> Ppo::take_skipped() { return skipped_->take(); }

/// Of all processes' samples: each has a slice of every minibatch.
std::int64_t Ppo::num_minibatches(const Fragment& rollout) const {
  const auto envs = static_cast<std::int64_t>(parts_.shards.total_envs());
  return std::max<std::int64_t>(1, rollout.num_steps() * envs / config_.minibatch);
}

void Ppo::run_epoch(Epoch& epoch) {
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) { shuffle(epoch, s); });
  normalise_advantages(epoch);
  epoch.num_learnt = 0;
  for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) { learn_minibatch(epoch, m); }
}

/// The shard's own permutation, and the moments of its advantages slice by slice.
void Ppo::shuffle(Epoch& epoch, std::size_t shard) {
  std::vector<std::int64_t>& indices = order_[shard];
  detail::list_samples(parts_.shards.range(shard), epoch.num_steps, epoch.num_envs, indices);
  Random random({.seed = parts_.seed,
                 .owner = static_cast<std::uint32_t>(parts_.shards.number(shard)),
                 .episode = epoch.number,
                 .stream = Stream::shuffle});
  penstock::shuffle(indices, random);
  std::vector<Moments>& moments = epoch.advantages[shard];
  moments.clear();
  for (std::int64_t m = 0; m < epoch.num_minibatches; ++m) {
    moments.push_back(detail::moments_of(epoch.advantage, epoch.slice(indices, m)));
  }
}

void Ppo::normalise_advantages(Epoch& epoch) const {
  tree_reduce(std::span(epoch.advantages),
              [](std::vector<Moments>& a, const std::vector<Moments>& b) {
                for (std::size_t m = 0; m < a.size(); ++m) { a[m].merge(b[m]); }
              });
  parts_.peers.merge(epoch.advantages[0]);
  epoch.mean.clear();
  epoch.scale.clear();
  for (const Moments& whole : epoch.advantages[0]) {
    // The unbiased deviation, as torch.std and so every PPO around computes it.
    const double deviation = std::sqrt(whole.m2 / std::max(1.0, whole.count - 1));
    epoch.mean.push_back(config_.normalise_advantage ? whole.mean : 0.0);
    epoch.scale.push_back(config_.normalise_advantage ? 1.0 / (deviation + 1e-8) : 1.0);
  }
}

void Ppo::learn_minibatch(Epoch& epoch, std::int64_t minibatch) {
  const std::size_t m = minibatch;
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) {
    gradients_->compute({.shard = s,
                         .samples = epoch.slice(order_[s], minibatch),
                         .count = epoch.advantages[0][m].count,
                         .advantage_mean = epoch.mean[m],
                         .advantage_scale = epoch.scale[m],
                         .policy = epoch.policy,
                         .value = epoch.value});
    detail::spoil_unless_finite(*gradients_, parts_.policy, s);
  });
  if (!adam_.step(learning_rate_, detail::learnt(epoch.policy, epoch.value))) {
    return skip_minibatch(epoch, minibatch);
  }
  skipped_->made();
  ++epoch.num_learnt;
  ++learnt_.all;
  learnt_.policy += epoch.policy ? 1 : 0;
  learnt_.value += epoch.value ? 1 : 0;
}

/// The weights stay as they are.
void Ppo::skip_minibatch(const Epoch& epoch, std::int64_t minibatch) {
  const std::size_t m = minibatch;
  detail::MinibatchRows rows{.rollout = epoch.rollout,
                             .targets = epoch.targets,
                             .samples = {},
                             .advantage_mean = epoch.mean[m],
                             .advantage_scale = epoch.scale[m],
                             .loss = detail::forget_minibatch(*gradients_, parts_.policy)};
  for (const std::vector<std::int64_t>& order : order_) {
    const auto part = epoch.slice(order, minibatch);
    rows.samples.insert(rows.samples.end(), part.begin(), part.end());
  }
  skipped_->add(rows, parts_.policy.version() + 1,
                epoch.in_update * epoch.num_minibatches + minibatch + 1);
}

detail::UpdateSums Ppo::total_sums() const {
  return detail::total_sums(*gradients_, parts_.shards, parts_.peers);
}

Metrics Ppo::report(const Fragment& rollout, const Targets& targets) const {
  const auto count = [](std::int64_t minibatches) { return std::max<double>(1, minibatches); };
  const detail::UpdateSums sums = total_sums();
  const double loss = sums.total / count(learnt_.all);
  detail::require_finite(loss, parts_.policy.version(), "ppo");
  Metrics metrics = {
      {"train/approx_kl", sums.kl / count(learnt_.policy)},
      {"train/clip_fraction", sums.clipped / count(learnt_.policy)},
      {"train/clip_range", loss_config_.clip},
      {"train/entropy_loss", -sums.entropy / count(learnt_.policy)},
      {"train/explained_variance", detail::explained_variance(rollout, targets, parts_)},
      {"train/learning_rate", learning_rate_},
      {"train/loss", loss},
      {"train/policy_gradient_loss", sums.policy / count(learnt_.policy)},
      {"train/value_loss", sums.value / count(learnt_.value)}};
  skipped_->report(metrics);
  return metrics;
}

namespace {

class PpoFactory : public LearnerFactory {
 public:
  std::vector<Field> fields() override { return fields_of(config, "ppo."); }
  void check() const override {
    detail::Schedule::check(config.learning_rate_schedule, kRateKey);
    detail::Schedule::check(config.clip_schedule, kClipKey);
  }
  [[nodiscard]] std::unique_ptr<Learner> make(const LearnerParts& parts) const override {
    return std::make_unique<Ppo>(config, parts);
  }
  [[nodiscard]] std::int64_t minibatch(std::int64_t samples) const override {
    return std::min(config.minibatch, samples);
  }
  [[nodiscard]] std::int64_t rollouts_per_update() const override { return config.update_interval; }
  [[nodiscard]] std::unique_ptr<Learner> make_rehearsal(const LearnerParts& parts,
                                                        std::int64_t batch) const override {
    PpoConfig once = config;
    once.minibatch = batch;
    once.policy_epochs = once.value_epochs = 1;
    return std::make_unique<Ppo>(once, parts);
  }
  [[nodiscard]] std::vector<std::string> warnings(std::int64_t samples) const override {
    if (config.minibatch <= samples) { return {}; }
    const std::string given = std::to_string(samples);
    return {"ppo.minibatch = " + std::to_string(config.minibatch) + " is more than the " + given +
            " samples of an update (rollout.steps x env.num_envs x ppo.update_interval): each "
            "update is one minibatch of " +
            given};
  }

  PpoConfig config;
};

}  // namespace

AlgorithmEntry ppo_entry() {
  return {"ppo", "proximal policy optimisation: several epochs on each rollout, clipped",
          [] { return std::make_unique<PpoFactory>(); }};
}

AlgorithmEntry appo_entry() {
  return {"appo", "PPO that learns while envs step, from policies slightly behind (async.max_lag)",
          [] { return std::make_unique<detail::AsyncFactory<PpoFactory>>(); }};
}

const PpoConfig* ppo_config(const LearnerFactory& factory) {
  const auto* ppo = dynamic_cast<const PpoFactory*>(&factory);
  return ppo == nullptr ? nullptr : &ppo->config;
}

}  // namespace penstock
