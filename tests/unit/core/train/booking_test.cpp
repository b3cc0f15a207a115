// Booking under time windows end to end: from envs to an update, in six checks.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/train/engine.h"
#include "penstock/domains/booking/env/dvrptw.h"

using namespace penstock;
using booking::kNumOffers;

namespace {

constexpr std::size_t kEnvs = 64;
constexpr std::size_t kCustomers = 30;

/// How often the oracle was asked, and about how many problems.
struct Asked {
  std::atomic<std::size_t> calls{0};
  std::atomic<std::size_t> problems{0};
};

class CountingOracle final : public booking::RoutingOracle {
 public:
  CountingOracle(std::string_view name, Asked& asked)
      : oracle_(booking::make_search_oracle(name)), asked_(asked) {}
  void solve(std::span<booking::RoutingProblem> batch) override {
    ++asked_.calls;
    asked_.problems += batch.size();
    oracle_->solve(batch);
  }

 private:
  std::unique_ptr<booking::RoutingOracle> oracle_;
  Asked& asked_;
};

Catalog counting_catalog(Asked& asked) {
  Catalog catalog = default_catalog();
  std::erase_if(catalog.envs, [](const EnvEntry& entry) { return entry.name == "dvrptw"; });
  for (EnvEntry& entry : booking::routing_envs([&asked](std::string_view name) {
         return std::make_unique<CountingOracle>(name, asked);
       })) {
    catalog.envs.push_back(std::move(entry));
  }
  return catalog;
}

Settings settings() {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 0\ntotal_updates = 2\nthreads = 1\n[env]\nid = \"dvrptw\"\nnum_envs = 64\n"
      "obs = \"hist\"\nmask = \"learnt\"\noracle = \"insertion\"\n[rollout]\nsteps = \"auto\"\n"
      "[ppo]\nminibatch = 64\npolicy_epochs = 1\nvalue_epochs = 1\n",
      "test");
  return settings;
}

/// A tensor of the rollout in flight.
template <class T>
std::vector<T> rollout(const Engine& engine, const std::string& name) {
  Engine::Snapshot snapshot;
  engine.snapshot(snapshot);
  const CheckpointData data = snapshot.data();
  for (const TensorView& view : data.tensors.at("envs")) {
    if (view.name != "rollout." + name) { continue; }
    std::vector<T> values(view.data.size() / sizeof(T));
    std::memcpy(values.data(), view.data.data(), view.data.size());
    return values;
  }
  return {};
}

}  // namespace

TEST_CASE("a day of 64 envs, end to end") {
  Asked asked;
  const Catalog catalog = counting_catalog(asked);
  const RunPlan plan(settings(), catalog);
  Engine engine(plan);

  SUBCASE("1: the envs are there, each with its rows") {
    CHECK(engine.envs().num_envs() == kEnvs);
    CHECK(engine.envs().spec().obs.part("hist").shape == std::vector<std::int64_t>{606, 2});
    CHECK(engine.envs().spec().action.num_actions() == kNumOffers);
    CHECK(engine.steps_left() == kCustomers);
  }

  REQUIRE(engine.sample(kCustomers));
  const auto actions = rollout<std::int64_t>(engine, "actions");  // [T, N, 1]
  const auto legal = rollout<std::uint8_t>(engine, "legal");      // [T + 1, N, 16]

  SUBCASE("2: actions are chosen for all of them at once, and differ") {
    REQUIRE(actions.size() == kCustomers * kEnvs);
    std::vector<int> chosen(kNumOffers);
    for (const std::int64_t action : actions) {
      REQUIRE(action >= 0);
      REQUIRE(action < booking::kOffers);
      ++chosen[static_cast<std::size_t>(action)];
    }
    CHECK(std::ranges::min(chosen) > 0);
  }

  SUBCASE("3: masks forbid nothing while nobody is known; no action is outside") {
    REQUIRE(legal.size() == (kCustomers + 1) * kEnvs * kNumOffers);
    CHECK(std::ranges::count(legal, 1) == static_cast<std::ptrdiff_t>(legal.size()));
    for (std::size_t row = 0; row < actions.size(); ++row) {
      CHECK(legal[row * kNumOffers + static_cast<std::size_t>(actions[row])] == 1);
    }
  }

  SUBCASE("4: a step asks the oracle about many envs in one call") {
    CHECK(asked.problems == kCustomers * kEnvs);
    CHECK(asked.calls * 8 <= asked.problems);
  }

  SUBCASE("5: rewards are stored where they belong, and add up to the episodes'") {
    const auto reward = rollout<float>(engine, "reward");                 // [T, N]
    const auto terminated = rollout<std::uint8_t>(engine, "terminated");  // [T, N]
    REQUIRE(reward.size() == kCustomers * kEnvs);
    const std::vector<EpisodeEnd> ends = engine.source().take_episodes();
    REQUIRE(ends.size() == kEnvs);
    for (const EpisodeEnd& end : ends) {
      double sum = 0;
      for (std::size_t t = 0; t < kCustomers; ++t) {
        sum += reward[t * kEnvs + end.env];
        CHECK(terminated[t * kEnvs + end.env] == (t + 1 == kCustomers));
      }
      CHECK(sum == doctest::Approx(end.total_reward));
      CHECK(end.length == kCustomers);
      CHECK(sum < -end.stats[0] + 1e-3);  // km, and what was paid on top
    }
  }

  SUBCASE("6: the update learns from it") {
    const std::string before = engine.digest();
    const Metrics metrics = engine.update();
    CHECK(engine.digest() != before);
    CHECK(engine.num_updates() == 1);
    for (const auto& [name, value] : metrics) { CHECK_MESSAGE(std::isfinite(value), name); }
    CHECK(engine.sample(kCustomers));  // and the next day begins
  }
}
