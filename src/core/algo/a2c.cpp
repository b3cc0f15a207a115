#include "penstock/core/algo/a2c.h"

#include <algorithm>
#include <cmath>

#include "core/algo/async_factory.h"
#include "core/algo/gradients.h"
#include "core/algo/schedule.h"
#include "core/algo/skipped_minibatches.h"
#include "penstock/core/base/tree_reduce.h"

namespace penstock {
namespace {

constexpr const char* kA2cRateKey = "a2c.learning_rate_schedule";

// The policy that acted is the policy that learns: the probability ratio is 1, where the gradient
// of ratio x advantage is that of log-probability x advantage, the plain policy gradient. So the
// clipped surrogate without its clip is A2C's loss, and both learners share one set of kernels.
constexpr double kNoClip = 1e9;

}  // namespace

A2c::A2c(const A2cConfig& config, const LearnerParts& parts)
    : config_(config),
      parts_(parts),
      targets_(parts, {.gamma = config.gamma, .lambda = config.gae_lambda}),
      adam_(parts.policy, parts.pool, parts.peers,
            {.beta2 = config.adam_beta2,
             .epsilon = config.adam_epsilon,
             .max_grad_norm = config.max_grad_norm}),
      gradients_(detail::make_gradients(parts.policy, parts.head)),
      samples_(parts.shards.count()),
      skipped_(std::make_unique<detail::SkippedMinibatches>(config.max_skipped, "a2c")) {}

A2c::~A2c() = default;

Metrics A2c::update(Fragment& rollout, double progress) {
  const double rate =
      config_.learning_rate *
      detail::Schedule(config_.learning_rate_schedule, kA2cRateKey, config_.warm_up)(progress);
  const bool one_pass =
      !config_.normalise_advantage && gradients_->in_one_pass() && targets_.is_old(rollout);
  const Targets& targets =
      one_pass ? targets_.prepare(rollout)
               : targets_.compute(rollout, detail::judge_by(*gradients_, parts_.shards));
  gradients_->begin(rollout, targets,
                    {.clip = kNoClip,
                     .value_weight = config_.value_weight,
                     .entropy_weight = config_.entropy_weight});
  const Scale scale =
      one_pass ? differentiate_old(rollout, targets) : differentiate(rollout, targets.advantage);
  take_step(rollout, targets, scale, rate);
  parts_.policy.set_version(parts_.policy.version() + 1);
  return report(rollout, targets, rate);
}

std::vector<SkippedMinibatch> A2c::take_skipped() { return skipped_->take(); }

/// Every shard's gradient.
A2c::Scale A2c::differentiate(const Fragment& rollout, const at::Tensor& advantage) {
  const Moments all = advantage_moments(rollout, advantage);
  const double deviation = std::sqrt(all.m2 / std::max(1.0, all.count - 1));
  const Scale scale =
      config_.normalise_advantage ? Scale{all.mean, 1.0 / (deviation + 1e-8)} : Scale{};
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) {
    gradients_->compute({.shard = s,
                         .samples = samples_[s],
                         .count = all.count,
                         .advantage_mean = scale.mean,
                         .advantage_scale = scale.factor});
    detail::spoil_unless_finite(*gradients_, parts_.policy, s);
  });
  return scale;
}

/// The same of an older policy's rollout, whose targets are computed on the way.
A2c::Scale A2c::differentiate_old(Fragment& rollout, const Targets& targets) {
  const GaeConfig config{.gamma = config_.gamma, .lambda = config_.gae_lambda};
  const std::size_t count = rollout.num_steps() * parts_.shards.total_envs();
  parts_.pool.run(parts_.shards.count(), [&](std::size_t s) {
    const EnvRange range = parts_.shards.range(s);
    detail::list_samples(range, rollout.num_steps(), rollout.num_envs(), samples_[s]);
    gradients_->compute_old({.shard = s,
                             .range = range,
                             .count = static_cast<double>(count),
                             .config = config,
                             .rollout = rollout,
                             .into = targets});
    detail::spoil_unless_finite(*gradients_, parts_.policy, s);
  });
  return {};
}

/// Unless the gradient is not finite.
void A2c::take_step(const Fragment& rollout, const Targets& targets, const Scale& scale,
                    double rate) {
  if (adam_.step(rate)) {
    adam_.catch_up();
    return skipped_->made();
  }
  detail::MinibatchRows rows{.rollout = rollout,
                             .targets = targets,
                             .samples = {},
                             .advantage_mean = scale.mean,
                             .advantage_scale = scale.factor,
                             .loss = detail::forget_minibatch(*gradients_, parts_.policy)};
  for (const auto& part : samples_) {
    rows.samples.insert(rows.samples.end(), part.begin(), part.end());
  }
  skipped_->add(rows, parts_.policy.version() + 1, 1);
}

Metrics A2c::report(const Fragment& rollout, const Targets& targets, double rate) const {
  const detail::UpdateSums sums = detail::total_sums(*gradients_, parts_.shards, parts_.peers);
  detail::require_finite(sums.total, parts_.policy.version(), "a2c");
  Metrics metrics = {
      {"train/entropy_loss", -sums.entropy},
      {"train/explained_variance", detail::explained_variance(rollout, targets, parts_)},
      {"train/learning_rate", rate},
      {"train/loss", sums.total},
      {"train/policy_gradient_loss", sums.policy},
      {"train/value_loss", sums.value}};
  skipped_->report(metrics);
  return metrics;
}

/// Lists each shard's samples on the way.
Moments A2c::advantage_moments(const Fragment& rollout, const at::Tensor& advantage) {
  std::vector<Moments> parts(parts_.shards.count());
  parts_.pool.run(parts.size(), [&](std::size_t s) {
    detail::list_samples(parts_.shards.range(s), rollout.num_steps(), rollout.num_envs(),
                         samples_[s]);
    parts[s] = detail::moments_of(detail::floats(advantage, rollout.num_samples()), samples_[s]);
  });
  tree_reduce(std::span(parts), [](Moments& a, const Moments& b) { a.merge(b); });
  parts_.peers.merge(std::span(parts).first(1));
  return parts[0];
}

LearnerState A2c::save() const {
  LearnerState state;
  adam_.save(state);
  targets_.save(state);
  return state;
}

void A2c::load(const LearnerState& state) {
  adam_.load(state);
  targets_.load(state);
}

namespace {

class A2cFactory : public LearnerFactory {
 public:
  std::vector<Field> fields() override { return fields_of(config_, "a2c."); }
  void check() const override {
    detail::Schedule::check(config_.learning_rate_schedule, kA2cRateKey);
  }
  [[nodiscard]] std::unique_ptr<Learner> make(const LearnerParts& parts) const override {
    return std::make_unique<A2c>(config_, parts);
  }
  [[nodiscard]] std::int64_t minibatch(std::int64_t samples) const override { return samples; }
  [[nodiscard]] std::unique_ptr<Learner> make_rehearsal(const LearnerParts& parts,
                                                        std::int64_t) const override {
    return make(parts);
  }

 private:
  A2cConfig config_;
};

}  // namespace

AlgorithmEntry a2c_entry() {
  return {"a2c", "advantage actor-critic: one gradient step on each rollout",
          [] { return std::make_unique<A2cFactory>(); }};
}

AlgorithmEntry impala_entry() {
  return {"impala",
          "A2C that learns while envs step, from policies slightly behind (async.max_lag)",
          [] { return std::make_unique<detail::AsyncFactory<A2cFactory>>(); }};
}

}  // namespace penstock
