#include "penstock/core/algo/ppo.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/algo/warm_up.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/nn/mlp.h"

namespace ppo_test {

using namespace penstock;

namespace {

const EnvSpec kSpec{Layout(3), Discrete{4, true}, 0};
constexpr std::int64_t kSteps = 16;

Fragment random_rollout(std::int64_t envs) {
  at::manual_seed(5);
  Fragment buffer(kSpec, kSteps, envs);
  buffer.obs.normal_();
  buffer.legal.fill_(true);
  buffer.legal.select(2, 3).zero_();
  buffer.actions.copy_(at::randint(0, 3, buffer.actions.sizes(), at::kLong));
  buffer.log_prob.fill_(-1.0986F);
  buffer.value.normal_();
  buffer.reward.normal_();
  buffer.terminated.zero_();
  buffer.truncated.zero_();
  buffer.version.zero_();
  buffer.final_value.zero_();
  return buffer;
}

struct Updated {
  at::Tensor weights;
  Metrics metrics;
};

Updated updated(PpoConfig config, std::size_t num_shards, std::size_t threads,
                std::int64_t envs = 12, bool warm = false, Fusion fusion = Fusion::never) {
  at::set_num_threads(1);
  const Shards shards(static_cast<std::size_t>(envs), num_shards);
  const auto head = make_action_head(kSpec.action, false);
  Policy policy([] { return make_mlp(kSpec, {.hidden = {16}}, 1); }, shards.count(), at::kCPU,
                fusion);
  if (warm) {
    const auto factory = ppo_entry().make_factory();
    Settings settings;
    settings.add("ppo.minibatch", std::to_string(config.minibatch), "test");
    std::vector<Field> fields = factory->fields();
    penstock::apply(fields, settings);
    warm_up(*factory, policy, *head, shards, kSpec, kSteps);
  }
  ThreadPool pool({.num_threads = threads, .on_start = [] { at::set_num_threads(1); }});
  Ppo ppo(config, {.policy = policy,
                   .head = *head,
                   .shards = shards,
                   .pool = pool,
                   .peers = alone(),
                   .seed = 1});
  Fragment rollout = random_rollout(envs);
  Metrics metrics = ppo.update(rollout, 0.25);
  return {policy.weights().clone(), metrics};
}

double metric(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) { return value; }
  }
  FAIL("no metric " << name);
  return 0;
}

at::Tensor named(const at::Tensor& weights, const std::string& prefix) {
  const Policy policy([] { return make_mlp(kSpec, {.hidden = {16}}, 1); }, 1, at::kCPU);
  std::vector<at::Tensor> parts;
  for (const ParameterSlot& slot : policy.slots()) {
    if (slot.name.starts_with(prefix)) { parts.push_back(Policy::view(weights, slot).flatten()); }
  }
  return at::cat(parts);
}

}  // namespace

TEST_CASE("the bits do not depend on threads") {
  for (const std::int64_t envs : {12, 7}) {
    const Updated one = updated({.minibatch = 40}, 4, 1, envs);
    CHECK(at::equal(one.weights, updated({.minibatch = 40}, 4, 2, envs).weights));
    CHECK(at::equal(one.weights, updated({.minibatch = 40}, 4, 4, envs).weights));
  }
}

TEST_CASE("the fused learner's bits do not depend on threads, and its update is the eager one's") {
  for (const std::int64_t envs : {12, 7}) {
    const auto fused = [&](std::size_t threads) {
      return updated({.minibatch = 40}, 4, threads, envs, false, Fusion::always);
    };
    const Updated one = fused(1);
    CHECK(at::equal(one.weights, fused(2).weights));
    CHECK(at::equal(one.weights, fused(4).weights));
    const Updated eager = updated({.minibatch = 40}, 4, 1, envs);
    CHECK(at::allclose(one.weights, eager.weights, 1e-3, 1e-4));
    for (const auto& expected : eager.metrics) {
      CAPTURE(expected.first);
      CHECK(metric(one.metrics, expected.first) == doctest::Approx(expected.second).epsilon(1e-3));
    }
  }
}

TEST_CASE("with one whole minibatch the number of shards changes rounding only") {
  const PpoConfig config{.policy_epochs = 1, .value_epochs = 1, .minibatch = 12 * kSteps};
  const at::Tensor one = updated(config, 1, 1).weights;
  for (const std::size_t shards : {2, 3, 5, 12}) {
    CHECK(at::allclose(one, updated(config, shards, 1).weights, 1e-4, 1e-6));
  }
}

TEST_CASE("epochs of policy and value are counted apart") {
  const at::Tensor initial = updated({.policy_epochs = 0, .value_epochs = 0}, 2, 1).weights;
  const at::Tensor value_only = updated({.policy_epochs = 0, .value_epochs = 2}, 2, 1).weights;
  CHECK(at::equal(named(value_only, "actor"), named(initial, "actor")));
  CHECK(!at::equal(named(value_only, "critic"), named(initial, "critic")));
  const at::Tensor policy_only = updated({.policy_epochs = 2, .value_epochs = 0}, 2, 1).weights;
  CHECK(!at::equal(named(policy_only, "actor"), named(initial, "actor")));
  CHECK(at::equal(named(policy_only, "critic"), named(initial, "critic")));
}

TEST_CASE("target_kl ends the policy's epochs and leaves the value's") {
  const PpoConfig free{
      .learning_rate = 0.05, .policy_epochs = 10, .value_epochs = 10, .minibatch = 48};
  PpoConfig bound = free;
  bound.target_kl = 1e-6;
  const double wild = metric(updated(free, 2, 1).metrics, "train/approx_kl");
  const double tame = metric(updated(bound, 2, 1).metrics, "train/approx_kl");
  CHECK(tame < wild);
  PpoConfig one_epoch = free;
  one_epoch.policy_epochs = 1;
  CHECK(at::equal(updated(bound, 2, 1).weights, updated(one_epoch, 2, 1).weights));
}

TEST_CASE("schedules follow the run's progress") {
  const Metrics linear =
      updated(
          {.learning_rate = 1e-3, .learning_rate_schedule = "linear", .clip_schedule = "linear"}, 1,
          1)
          .metrics;
  CHECK(metric(linear, "train/learning_rate") == doctest::Approx(0.75e-3));
  CHECK(metric(linear, "train/clip_range") == doctest::Approx(0.15));
  const Metrics constant = updated({.learning_rate_schedule = "constant"}, 1, 1).metrics;
  CHECK(metric(constant, "train/learning_rate") == doctest::Approx(1e-3));
}

TEST_CASE("fault 12: a loss that is not finite is an error with a remedy") {
  CHECK_THROWS_WITH_AS(
      updated({.learning_rate = 1.0, .value_weight = 3e38, .max_grad_norm = 0.0}, 1, 1),
      doctest::Contains("learning_rate"), Error);
}

TEST_CASE("warming up leaves the policy as it was") {
  const PpoConfig config{.minibatch = 64};
  CHECK(
      at::equal(updated(config, 3, 2, 12, false).weights, updated(config, 3, 2, 12, true).weights));
}

namespace {

/// An MLP that says it needs so much memory that three rows are a piece.
class Greedy final : public Network {
 public:
  Greedy() : mlp_(make_mlp(kSpec, {.hidden = {16}}, 1)) {}
  NetworkOutput forward(const Observation& batch, Outputs want) override {
    most_rows_ = std::max(most_rows_, batch.obs.size(0));
    return mlp_->forward(batch, want);
  }
  std::vector<std::pair<std::string, at::Tensor>> parameters() override {
    return mlp_->parameters();
  }
  [[nodiscard]] std::int64_t floats_per_row() const override { return (64 << 20) / 3; }

  std::int64_t most_rows_ = 0;

 private:
  std::unique_ptr<Network> mlp_;
};

}  // namespace

TEST_CASE(
    "a batch that is too large is learnt from in pieces, to the same weights but for rounding") {
  const PpoConfig config{.policy_epochs = 1, .value_epochs = 1, .minibatch = 96};
  const Shards shards(12, 2);
  const auto head = make_action_head(kSpec.action, false);
  Policy policy([] { return std::make_unique<Greedy>(); }, shards.count(), at::kCPU);
  ThreadPool pool({.num_threads = 1});
  Ppo ppo(config, {.policy = policy,
                   .head = *head,
                   .shards = shards,
                   .pool = pool,
                   .peers = alone(),
                   .seed = 1});
  Fragment rollout = random_rollout(12);
  const Metrics metrics = ppo.update(rollout, 0.25);
  const Updated whole = updated(config, 2, 1);
  CHECK(dynamic_cast<Greedy&>(policy.replica(0)).most_rows_ == 3);
  CHECK(at::allclose(policy.weights(), whole.weights, 1e-4, 1e-5));
  CHECK(metric(metrics, "train/loss") ==
        doctest::Approx(metric(whole.metrics, "train/loss")).epsilon(1e-4));
}

}  // namespace ppo_test
