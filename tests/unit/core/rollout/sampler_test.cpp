#include "penstock/core/rollout/sampler.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <doctest/doctest.h>

#include <cmath>

#include "penstock/core/base/errors.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/nn/mlp.h"
#include "penstock/core/nn/policy.h"

using namespace penstock;

namespace {

/// Counts up; every fourth step of an odd env is cut off, of an even env ends. Can be told to
/// break.
struct Counter {
  struct Config {
    std::int64_t features = 3;
    std::int64_t actions = 4;
    std::int64_t break_at = -1;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("features", features, "");
      visit("actions", actions, "");
      visit("break_at", break_at, "");
    }
  };
  explicit Counter(const Config& c) : config(c) {}
  [[nodiscard]] EnvSpec spec() const {
    return {Layout(config.features), Discrete{config.actions, true}, 0};
  }
  void reset(std::uint64_t seed, Row row) {
    odd = seed % 2 == 1;
    steps = 0;
    write(row);
  }
  Outcome step(std::int64_t action, Row row) {
    ++steps;
    ++total;
    write(row);
    const bool end = steps == 4;
    return {static_cast<float>(action), end && !odd, end && odd};
  }
  void write(Row row) {
    for (std::size_t f = 0; f < row.obs.size(); ++f) {
      row.obs[f] = static_cast<float>(steps) + 0.01F * static_cast<float>(f);
    }
    if (total == config.break_at) { row.obs[0] = std::nanf(""); }
    row.legal[static_cast<std::size_t>(steps) % row.legal.size()] = false;
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(odd, steps, total);
  }
  Config config;
  bool odd = false;
  std::int64_t steps = 0;
  std::int64_t total = 0;
};

/// Everything a sampler needs, on any number of threads.
struct Rig {
  Rig(Counter::Config config, std::size_t num_envs, std::int64_t num_steps, std::size_t threads,
      bool normalise = false)
      : envs(config, num_envs, 1),
        shards(num_envs, 4),
        head(make_action_head(envs.spec().action, false)),
        policy([this] { return make_mlp(envs.spec(), {.hidden = {8}}, 1); }, shards.count(),
               at::kCPU),
        pool({.num_threads = threads, .on_start = [] { at::set_num_threads(1); }}),
        buffer(envs.spec(), num_steps, static_cast<std::int64_t>(num_envs)),
        sampler(envs, actors(normalise), shards, buffer, pool, alone(),
                {.seed = 3, .normalise_obs = normalise}) {}

  std::vector<std::unique_ptr<Actor>> actors(bool normalise) {
    const auto model = policy.publish(policy.shape(envs.spec(), head, normalise ? 10 : 0), {});
    std::vector<std::unique_ptr<Actor>> made;
    for (std::size_t s = 0; s < shards.count(); ++s) { made.push_back(make_actor(model)); }
    return made;
  }

  BatchedEnv<Counter> envs;
  Shards shards;
  std::shared_ptr<const ActionHead> head;
  Policy policy;
  ThreadPool pool;
  Fragment buffer;
  Sampler sampler;
};

void check_same(const Fragment& a, const Fragment& b) {
  const auto left = a.tensors();
  const auto right = b.tensors();
  for (std::size_t i = 0; i < left.size(); ++i) {
    INFO(left[i].first);
    CHECK(at::equal(left[i].second, right[i].second));
  }
}

void roll(Rig& rig, std::int64_t segment) {
  while (!rig.sampler.full()) { rig.sampler.advance(segment); }
  rig.sampler.finish();
}

constexpr bool kNormalised = true;

}  // namespace

TEST_CASE("threads and segments do not change a rollout") {
  for (const std::size_t envs : {16, 7}) {
    Rig one({}, envs, 12, 1, kNormalised);
    Rig many({}, envs, 12, 4, kNormalised);
    for (int round = 0; round < 3; ++round) {
      roll(one, 12);
      roll(many, 5);
      check_same(one.buffer, many.buffer);
      CHECK(one.sampler.take_episodes().size() == many.sampler.take_episodes().size());
      one.sampler.restart();
      many.sampler.restart();
    }
  }
}

TEST_CASE("rows, masks, ends and cut-off values stand where they belong") {
  Rig rig({}, 6, 9, 2);
  roll(rig, 100);
  const auto legal_of_action = rig.buffer.legal.narrow(0, 0, 9).gather(2, rig.buffer.actions);
  CHECK(legal_of_action.all().item<bool>());
  for (std::int64_t n = 0; n < 6; ++n) {
    const bool ended = rig.buffer.terminated[3][n].item<bool>();
    const bool cut = rig.buffer.truncated[3][n].item<bool>();
    CHECK((ended != cut));
    CHECK(rig.buffer.obs[4][n][0].item<float>() == 0.0F);  // the new episode's first row
    const float value = rig.buffer.final_value[3][n].item<float>();
    if (ended) { CHECK(value == 0.0F); }
    if (cut) {
      const auto last = at::tensor({4.0F, 4.01F, 4.02F}).unsqueeze(0);
      const c10::NoGradGuard no_grad;
      const float expected =
          rig.policy.replica(0).forward({last, {}}, Outputs::value).value.item<float>();
      CHECK(value == doctest::Approx(expected).epsilon(1e-6));
    }
  }
  CHECK(rig.buffer.version.eq(0).all().item<bool>());
  CHECK(rig.sampler.take_episodes().size() == 6 * 2);
}

TEST_CASE("the next rollout goes on where the last one ended") {
  Rig long_one({}, 5, 20, 1);
  roll(long_one, 20);
  Rig short_one({}, 5, 10, 1);
  roll(short_one, 10);
  CHECK(at::equal(short_one.buffer.actions, long_one.buffer.actions.narrow(0, 0, 10)));
  short_one.sampler.restart();
  roll(short_one, 10);
  CHECK(at::equal(short_one.buffer.obs, long_one.buffer.obs.narrow(0, 10, 11)));
  CHECK(at::equal(short_one.buffer.actions, long_one.buffer.actions.narrow(0, 10, 10)));
}

TEST_CASE("a sampler saved in mid-rollout continues with the same bits") {
  for (const std::int64_t stop : {0, 3, 12}) {
    Rig whole({}, 7, 12, 1, kNormalised);
    Rig first({}, 7, 12, 2, kNormalised);
    for (Rig* rig : {&whole, &first}) {  // one rollout behind them
      roll(*rig, 12);
      rig->sampler.restart();
      rig->sampler.advance(stop);
    }
    Rig second({}, 7, 12, 2, kNormalised);
    for (std::size_t i = 0; i < 7; ++i) {
      std::vector<std::byte> bytes;
      first.envs.save(i, bytes);
      second.envs.load(i, bytes);
    }
    const auto from = first.buffer.tensors();
    const auto to = second.buffer.tensors();
    for (std::size_t i = 0; i < from.size() && stop > 0; ++i) {
      to[i].second.copy_(from[i].second);
    }
    second.sampler.load(first.sampler.save());
    roll(whole, 12);
    roll(second, 4);
    check_same(whole.buffer, second.buffer);
    CHECK(whole.sampler.take_episodes().size() == second.sampler.take_episodes().size());
  }
}

TEST_CASE("a row that is not finite is refused with env and step") {
  Rig rig({.break_at = 6}, 3, 8, 2);
  CHECK_THROWS_WITH_AS(roll(rig, 8), doctest::Contains("env 0, step 5"), DataError);
}

TEST_CASE("the largest sizes: 4,096 envs of 1,212 floats and 145 masked actions") {
  Rig rig({.features = 1212, .actions = 145}, 4096, 2, 2);
  roll(rig, 2);
  CHECK(rig.buffer.obs.isfinite().all().item<bool>());
  CHECK(rig.buffer.value.isfinite().all().item<bool>());
  CHECK(rig.buffer.legal.narrow(0, 0, 2).gather(2, rig.buffer.actions).all().item<bool>());
}
