#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/algo/gradients.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/mlp.h"

namespace epochs_test {

using namespace penstock;

// Which samples an update takes, in which order, and what for.

using penstock::detail::Fit;

namespace {

const EnvSpec kTwo{Layout(2), Discrete{3}, 0};

/// Rollouts whose first feature is the sample's number.
Fragment numbered(std::int64_t steps, std::int64_t envs) {
  at::manual_seed(9);
  Fragment fragment(kTwo, steps, envs);
  fragment.obs.normal_();
  const auto numbers = at::arange((steps + 1) * envs, at::kFloat).view({steps + 1, envs});
  fragment.obs.select(2, 0).copy_(numbers);
  fragment.actions.copy_(at::randint(0, 3, fragment.actions.sizes(), at::kLong));
  fragment.log_prob.fill_(-1.0986F);
  fragment.value.normal_();
  fragment.reward.normal_();
  fragment.terminated.copy_(at::rand({steps, envs}) < 0.1);
  fragment.truncated.copy_(at::rand({steps, envs}) < 0.1);
  fragment.final_value.normal_();
  fragment.version.zero_();
  return fragment;
}

using Batches = std::vector<std::vector<std::int64_t>>;

/// An MLP that remembers which samples it was asked about.
class Remembering final : public Network {
 public:
  explicit Remembering(Batches& seen) : seen_(seen), mlp_(make_mlp(kTwo, {.hidden = {4}}, 1)) {}
  NetworkOutput forward(const Observation& batch, Outputs want) override {
    std::vector<std::int64_t>& numbers = seen_.emplace_back();
    for (std::int64_t i = 0; i < batch.obs.size(0); ++i) {
      numbers.push_back(static_cast<std::int64_t>(batch.obs[i][0].item<float>()));
    }
    return mlp_->forward({batch.obs * 0.001, batch.legal}, want);
  }
  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    return mlp_->parameters();
  }

 private:
  Batches& seen_;
  std::unique_ptr<Network> mlp_;
};

/// The batches of some updates on one thread, shard by shard within each minibatch.
Batches batches_of(const PpoConfig& config, std::size_t num_shards, std::uint64_t seed,
                   std::int64_t steps, std::int64_t envs, int updates = 1) {
  at::set_num_threads(1);
  Batches seen;
  const Shards shards(static_cast<std::size_t>(envs), num_shards);
  const auto head = make_action_head(kTwo.action, false);
  Policy policy([&] { return std::make_unique<Remembering>(seen); }, shards.count(), at::kCPU);
  ThreadPool pool({.num_threads = 1});
  Ppo ppo(config, {.policy = policy,
                   .head = *head,
                   .shards = shards,
                   .pool = pool,
                   .peers = alone(),
                   .seed = seed});
  Fragment fragment = numbered(steps, envs);
  seen.clear();
  for (int i = 0; i < updates; ++i) {
    fragment.version.fill_(i);  // on policy, so that nothing else is asked
    ppo.update(fragment, 0);
  }
  return seen;
}

std::vector<std::int64_t> flat(const Batches& batches, std::size_t first, std::size_t count) {
  std::vector<std::int64_t> all;
  for (std::size_t b = first; b < first + count; ++b) {
    all.insert(all.end(), batches[b].begin(), batches[b].end());
  }
  return all;
}

struct Learning {
  explicit Learning(const PpoConfig& given, std::size_t num_shards = 2, bool scale_rewards = false)
      : shards(6, num_shards),
        head(make_action_head(kTwo.action, false)),
        policy([] { return make_mlp(kTwo, {.hidden = {8}}, 1); }, shards.count(), at::kCPU),
        pool({.num_threads = 1}),
        ppo(given, {.policy = policy,
                    .head = *head,
                    .shards = shards,
                    .pool = pool,
                    .peers = alone(),
                    .seed = 1,
                    .scale_rewards = scale_rewards}) {}

  Shards shards;
  std::unique_ptr<ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Ppo ppo;
};

double told(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) { return value; }
  }
  FAIL("no metric " << name);
  return 0;
}

Fragment small_rollout() {
  Fragment fragment = numbered(10, 6);
  fragment.obs.normal_();
  return fragment;
}

}  // namespace

TEST_CASE("no epoch takes the order of another one, of its update or before") {
  const PpoConfig config{.policy_epochs = 4, .value_epochs = 4, .minibatch = 40};
  const Batches batches = batches_of(config, 1, 1, 8, 5, 3);
  REQUIRE(batches.size() == 12);
  for (const std::vector<std::int64_t>& order : batches) {
    CHECK(std::ranges::count(batches, order) == 1);
  }
}

TEST_CASE("GAE is the sum of discounted errors up to the episode's end, by definition") {
  constexpr std::int64_t kSteps = 23;
  constexpr std::int64_t kEnvs = 5;
  const Fragment x = numbered(kSteps, kEnvs);
  for (const GaeConfig config :
       {GaeConfig{0.97, 0.9}, GaeConfig{0.9, 0.0}, GaeConfig{1.0, 1.0}, GaeConfig{0.0, 0.7}}) {
    CAPTURE(config.gamma);
    const Targets targets{at::full_like(x.reward, 77), at::full_like(x.reward, 77)};
    compute_gae(x, {1, 4}, config, targets);
    const auto number = [](const at::Tensor& tensor, std::int64_t t, std::int64_t n) {
      return tensor[t][n].item<double>();
    };
    const auto flag = [](const at::Tensor& tensor, std::int64_t t, std::int64_t n) {
      return tensor[t][n].item<bool>();
    };
    for (std::int64_t n = 1; n < 4; ++n) {
      for (std::int64_t t = 0; t < kSteps; ++t) {
        double sum = 0;
        double weight = 1;
        for (std::int64_t k = t; k < kSteps; ++k) {
          const bool over = flag(x.terminated, k, n);
          const bool cut = flag(x.truncated, k, n);
          const double future = over  ? 0
                                : cut ? number(x.final_value, k, n)
                                      : number(x.value, k + 1, n);
          sum += weight * (number(x.reward, k, n) + config.gamma * future - number(x.value, k, n));
          weight *= config.gamma * config.lambda;
          if (over || cut) { break; }
        }
        CHECK(number(targets.advantage, t, n) == doctest::Approx(sum).epsilon(1e-4));
        CHECK(number(targets.value, t, n) ==
              doctest::Approx(sum + number(x.value, t, n)).epsilon(1e-4));
      }
    }
    // Envs outside the range belong to other threads.
    CHECK(targets.advantage.select(1, 0).eq(77).all().item<bool>());
    CHECK(targets.value.select(1, 4).eq(77).all().item<bool>());
  }
}

TEST_CASE("an epoch takes every sample once, in minibatches of nearly equal size") {
  for (const std::size_t shards : {1U, 3U}) {
    const PpoConfig config{.policy_epochs = 2, .value_epochs = 2, .minibatch = 20};
    const Batches batches = batches_of(config, shards, 1, 10, 7);  // 70 samples: 3 minibatches
    REQUIRE(batches.size() == 2 * 3 * shards);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      std::vector<std::int64_t> all = flat(batches, epoch * 3 * shards, 3 * shards);
      std::sort(all.begin(), all.end());
      REQUIRE(all.size() == 70);
      for (std::int64_t i = 0; i < 70; ++i) { CHECK(all[static_cast<std::size_t>(i)] == i); }
      for (std::size_t m = 0; m < 3; ++m) {
        const auto size = flat(batches, (epoch * 3 + m) * shards, shards).size();
        CHECK(size >= 70 / 3 - shards);
        CHECK(size <= 70 / 3 + shards + 1);
      }
    }
  }
}

TEST_CASE("samples stay with the shard of their env") {
  const PpoConfig config{.policy_epochs = 1, .value_epochs = 1, .minibatch = 20};
  const Batches batches = batches_of(config, 3, 1, 10, 7);
  const Shards shards(7, 3);
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const EnvRange range = shards.range(b % 3);
    for (const std::int64_t sample : batches[b]) {
      const auto env = static_cast<std::size_t>(sample % 7);
      CHECK(env >= range.begin);
      CHECK(env < range.end);
    }
  }
}

TEST_CASE("the order is new in every epoch and a function of the seed") {
  const PpoConfig config{.policy_epochs = 2, .value_epochs = 2, .minibatch = 1000};
  const Batches batches = batches_of(config, 1, 1, 10, 7);
  REQUIRE(batches.size() == 2);
  CHECK(batches[0] != batches[1]);
  CHECK(batches == batches_of(config, 1, 1, 10, 7));
  CHECK(batches != batches_of(config, 1, 2, 10, 7));
  CHECK(!std::is_sorted(batches[0].begin(), batches[0].end()));
}

TEST_CASE("epochs of which nothing is left to learn are not run") {
  const auto count = [](std::int64_t policy, std::int64_t value) {
    return batches_of({.policy_epochs = policy, .value_epochs = value, .minibatch = 1000}, 1, 1, 4,
                      2)
        .size();
  };
  CHECK(count(0, 0) == 0);
  CHECK(count(3, 1) == 3);
  CHECK(count(1, 4) == 4);
}

TEST_CASE("a learning rate that has come to zero moves nothing, but counts the update") {
  Learning learning({.learning_rate = 0.1, .learning_rate_schedule = "linear"});
  const at::Tensor before = learning.policy.weights().clone();
  Fragment rollout = small_rollout();
  const Metrics metrics = learning.ppo.update(rollout, 1.0);
  CHECK(at::equal(learning.policy.weights(), before));
  CHECK(told(metrics, "train/learning_rate") == 0);
  CHECK(learning.policy.version() == 1);
}

TEST_CASE("explained variance is one for a perfect value, zero for a constant, below for worse") {
  const auto explained = [](const std::vector<float>& values, const std::vector<float>& wanted) {
    Fit fit;
    fit.add(values, wanted);
    return fit.explained();
  };
  const std::vector<float> targets = {1, 2, 3, 6};
  CHECK(explained(targets, targets) == 1);
  const std::vector<float> constant = {5, 5, 5, 5};
  CHECK(explained(constant, targets) == doctest::Approx(0));
  const std::vector<float> opposite = {-1, -2, -3, -6};
  CHECK(explained(opposite, targets) == doctest::Approx(-3));  // 1 - 4 v / v
  const std::vector<float> shifted = {11, 12, 13, 16};
  CHECK(explained(shifted, targets) == doctest::Approx(1));
  CHECK(std::isnan(explained(targets, constant)));
}

TEST_CASE("normalised advantages forget the scale of rewards, plain ones do not") {
  const auto actor_after = [](bool normalise, double scale) {
    Learning learning({.normalise_advantage = normalise, .value_epochs = 0, .minibatch = 20}, 2);
    Fragment rollout = small_rollout();
    for (at::Tensor* x : {&rollout.reward, &rollout.value, &rollout.final_value}) {
      x->mul_(scale);
    }
    return told(learning.ppo.update(rollout, 0), "train/policy_gradient_loss");
  };
  CHECK(actor_after(true, 1000) == doctest::Approx(actor_after(true, 1)).epsilon(1e-3));
  CHECK(std::abs(actor_after(false, 1000)) > 100 * std::abs(actor_after(false, 1)));
}

TEST_CASE("minibatches of one sample have no deviation, and do no harm") {
  Learning learning({.policy_epochs = 1, .value_epochs = 1, .minibatch = 1}, 1);
  Fragment rollout = small_rollout();
  const Metrics metrics = learning.ppo.update(rollout, 0);
  CHECK(std::isfinite(told(metrics, "train/loss")));
  CHECK(told(metrics, "train/policy_gradient_loss") == doctest::Approx(0));  // advantages are 0
  CHECK(learning.policy.weights().isfinite().all().item<bool>());
}

TEST_CASE("a learner that loaded another's state goes on as that one does") {
  const PpoConfig config{.minibatch = 20};
  Learning first(config, 2, true);
  Fragment one = small_rollout();
  first.ppo.update(one, 0);
  Learning second(config, 2, true);
  second.policy.weights().copy_(first.policy.weights());
  second.policy.weights_changed();
  second.policy.set_version(first.policy.version());
  second.ppo.load(first.ppo.save());
  for (Learning* learning : {&first, &second}) {
    Fragment next = small_rollout();
    next.reward.mul_(3);
    learning->ppo.update(next, 0.5);
  }
  CHECK(at::equal(first.policy.weights(), second.policy.weights()));
  LearnerState incomplete = first.ppo.save();
  incomplete.tensors.pop_back();
  CHECK_THROWS_AS(second.ppo.load(incomplete), DataError);
}

TEST_CASE("scaled rewards are what is learnt from, and stand in the fragment afterwards") {
  Learning learning({.gamma = 0.5, .policy_epochs = 0, .value_epochs = 1}, 2, true);
  Fragment rollout = small_rollout();
  const at::Tensor raw = rollout.reward.clone();
  learning.ppo.update(rollout, 0);
  // numpy's way: follow the discounted return of every env, then divide by its deviation.
  std::vector<double> returns;
  for (std::int64_t n = 0; n < 6; ++n) {
    double running = 0;
    for (std::int64_t t = 0; t < 10; ++t) {
      running = 0.5 * running + raw[t][n].item<double>();
      returns.push_back(running);
      if (rollout.terminated[t][n].item<bool>() || rollout.truncated[t][n].item<bool>()) {
        running = 0;
      }
    }
  }
  double mean = 0;
  for (const double x : returns) { mean += x / 60; }
  double variance = 0;
  for (const double x : returns) { variance += (x - mean) * (x - mean) / 60; }
  CHECK(at::allclose(rollout.reward, raw / std::sqrt(variance + 1e-8), 1e-5, 1e-6));
}

}  // namespace epochs_test
