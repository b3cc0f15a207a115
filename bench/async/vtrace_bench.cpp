// What learning from an older policy's rollout costs: updates by V-trace over the same updates by
// GAE; and how long a new version takes to reach samplers.
//     vtrace_bench [ROUNDS] [THREADS]
// Both kinds in turns, one thread unless told otherwise; medians.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "penstock/core/act/actor.h"
#include "penstock/core/algo/a2c.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/stopwatch.h"
#include "penstock/core/nn/mlp.h"

using namespace penstock;

namespace {

constexpr std::int64_t kSteps = 128;
constexpr std::int64_t kEnvs = 64;
const EnvSpec kCartPole{Layout(4), Discrete{2, false}, 500};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct Bench {
  Bench(const std::vector<std::int64_t>& hidden, std::size_t threads)
      : policy([hidden] { return make_mlp(kCartPole, {.hidden = hidden}, 1); }, 2, at::kCPU,
               Fusion::always),
        pool({.num_threads = threads, .on_start = [] { at::set_num_threads(1); }}) {}

  [[nodiscard]] LearnerParts parts() {
    return {.policy = policy, .head = *head, .shards = shards, .pool = pool, .peers = alone()};
  }

  Shards shards{kEnvs, 2};
  std::shared_ptr<const ActionHead> head = make_action_head(kCartPole.action, false);
  Policy policy;
  at::Tensor initial = policy.weights().clone();
  ThreadPool pool;
};

/// A rollout like CartPole's.
Fragment rollout() {
  Fragment x(kCartPole, kSteps, kEnvs);
  x.obs.normal_();
  x.actions.copy_(at::randint(0, 2, x.actions.sizes(), at::kLong));
  x.log_prob.uniform_(-0.8, -0.6);
  x.value.normal_();
  x.reward.fill_(1);
  x.terminated.copy_(at::rand(x.reward.sizes()) < 0.02);
  x.truncated.zero_();
  x.final_value.zero_();
  return x;
}

/// An update from the same weights and the same rollout each time, which is `lag` versions old.
double time_update(Bench& bench, Learner& learner, const Fragment& sampled, std::int64_t lag) {
  Fragment fragment(kCartPole, kSteps, kEnvs);
  const auto from = sampled.tensors();
  const auto into = fragment.tensors();
  for (std::size_t i = 0; i < from.size(); ++i) { into[i].second.copy_(from[i].second); }
  fragment.version.fill_(1 - lag);
  bench.policy.weights().copy_(bench.initial);
  bench.policy.weights_changed();
  bench.policy.set_version(1);
  const Stopwatch watch;
  learner.update(fragment, 0);
  return watch.seconds();
}

void compare(const char* name, const char* net, Bench& bench, Learner& learner, int rounds) {
  const Fragment sampled = rollout();
  std::vector<double> gae;
  std::vector<double> vtrace;
  std::vector<double> more;
  for (int i = -2; i < rounds; ++i) {  // the first two find their memory
    const double own = time_update(bench, learner, sampled, 0);
    const double older = time_update(bench, learner, sampled, 1);
    if (i < 0) { continue; }
    gae.push_back(own);
    vtrace.push_back(older);
    more.push_back(older / own - 1);
  }
  std::printf("| %s | %s | %.2f | %.2f | %.1f %% |\n", name, net, 1e3 * median(gae),
              1e3 * median(vtrace), 100 * median(more));
}

void compare_all(const char* net, const std::vector<std::int64_t>& hidden, std::size_t threads,
                 int rounds) {
  Bench bench(hidden, threads);
  Ppo eight({}, bench.parts());
  compare("APPO, 8 epochs", net, bench, eight, rounds);
  Ppo one({.policy_epochs = 1, .value_epochs = 1}, bench.parts());
  compare("APPO, 1 epoch", net, bench, one, rounds);
  A2c a2c({}, bench.parts());
  compare("IMPALA, 1 step", net, bench, a2c, rounds);
}

/// One shard each, one after the other.
void publish(const std::vector<std::int64_t>& hidden, int rounds) {
  Bench bench(hidden, 1);
  const auto shape = bench.policy.shape(kCartPole, bench.head, 0);
  std::unique_ptr<Actor> samplers[] = {make_actor(bench.policy.publish(shape, {})),
                                       make_actor(bench.policy.publish(shape, {}))};
  std::vector<double> publishing;
  std::vector<double> adopting;
  for (int round = 0; round < 10 * rounds; ++round) {
    Stopwatch watch;
    const auto model = bench.policy.publish(shape, {});
    publishing.push_back(watch.lap());
    for (const auto& sampler : samplers) { sampler->adopt(model); }
    adopting.push_back(watch.lap());
  }
  std::printf("\n%.1f MB to two samplers: %.2f ms = %.2f ms to publish, %.2f ms to adopt\n",
              4e-6 * static_cast<double>(bench.policy.weights().numel()),
              1e3 * (median(publishing) + median(adopting)), 1e3 * median(publishing),
              1e3 * median(adopting));
}

}  // namespace

int main(int argc, char** argv) try {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 31;
  const std::size_t threads = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  at::set_num_threads(1);
  at::manual_seed(1);
  std::printf("| update of 64 envs x 128 steps | network | GAE, ms | V-trace, ms | more |\n");
  std::printf("|---|---|---|---|---|\n");
  compare_all("64-64", {64, 64}, threads, rounds);
  compare_all("256-256", {256, 256}, threads, rounds);
  publish({784, 784}, rounds);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "vtrace_bench: %s\n", error.what());
  return static_cast<int>(error.exit());
}
