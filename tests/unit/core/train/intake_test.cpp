#include "core/train/intake.h"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/remote_sampler.h"
#include "penstock/core/train/trainer.h"

using namespace penstock;

namespace {

constexpr std::size_t kSeats = 4;
const std::atomic<bool> kGoesOn{false};

Settings fed(const std::string& env, const std::string& algo, int lag) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 2000\nthreads = 2\n[rollout]\nsteps = 16\nshards = 4\n"
      "[run]\neval_episodes = 2\nsave_every_s = 0.0\n[env]\nnum_envs = 12\n",
      "test");
  settings.add("env.id", env, "test");
  settings.add("algo", algo, "test");
  if (algo == "ppo" || algo == "appo") { settings.add("ppo.minibatch", "100", "test"); }
  if (lag > 0) { settings.add("async.max_lag", std::to_string(lag), "test"); }
  return settings;
}

/// Samplers in this process that fill a fragment when one is asked for, the seat by `turn`.
class Nearby : public Carrier {
 public:
  using Turn = std::function<std::size_t(std::int64_t asked)>;
  explicit Nearby(
      const RunPlan& plan, Turn turn = [](std::int64_t n) { return n % kSeats; })
      : plan_(plan), turn_(std::move(turn)) {}

  [[nodiscard]] std::size_t num_seats() const override { return kSeats; }
  std::vector<std::byte> next(std::chrono::milliseconds wait) override {
    if (wait.count() == 0) { return {}; }
    return fill(turn_(asked_++));
  }
  void publish(const PolicyModel& model) override {
    newest_.assign(model.weights(), model.weights() + model.shape().num_floats);
    version_ = model.version();
  }
  std::vector<SamplerState> save() override {
    std::vector<SamplerState> states;
    for (const auto& [seat, sampler] : samplers_) {
      states.push_back({.seat = static_cast<std::int64_t>(seat), .bytes = sampler->save()});
    }
    return states;
  }
  void load(const std::vector<SamplerState>& states, std::int64_t num_taken) override {
    for (const SamplerState& state : states) { sampler(state.seat).load(state.bytes); }
    asked_ = num_taken;
  }

  std::vector<std::byte> fill(std::size_t seat) {
    sampler(seat).adopt(newest_, version_);
    return sampler(seat).fill();
  }
  RemoteSampler& sampler(std::size_t seat) {
    auto& found = samplers_[seat];
    if (!found) {
      found = std::make_unique<RemoteSampler>(
          plan_, RemoteSampler::Seat{.number = seat, .of = kSeats, .epoch = 0});
    }
    return *found;
  }

 private:
  const RunPlan& plan_;
  Turn turn_;
  std::map<std::size_t, std::unique_ptr<RemoteSampler>> samplers_;
  std::vector<float> newest_;
  std::int64_t version_ = 0;
  std::int64_t asked_ = 0;
};

/// Hands over what it is given.
class Scripted : public Nearby {
 public:
  using Nearby::Nearby;
  std::vector<std::byte> next(std::chrono::milliseconds /*wait*/) override {
    if (messages.empty()) { return {}; }
    std::vector<std::byte> message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  std::deque<std::vector<std::byte>> messages;
};

Summary train_fed(const RunPlan& plan, const std::string& path, Carrier* carrier,
                  const std::atomic<bool>& stop = kGoesOn, RunListener listener = {}) {
  const bool resumed = std::filesystem::exists(path);
  RunDir dir(path, resumed ? RunDir::Open::resume : RunDir::Open::fresh);
  if (!resumed) { dir.write("config.toml", to_toml(plan.fields())); }
  Trainer trainer(plan, dir, std::move(listener), alone(), carrier);
  if (resumed) { trainer.resume(); }
  return trainer.run(stop);
}

double metric_of(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics) {
    if (key == name) { return value; }
  }
  return -1;
}

}  // namespace

TEST_CASE("samplers elsewhere that are never behind give PPO's and A2C's bits") {
  for (const auto& [own, fed_by] : {std::pair("ppo", "appo"), std::pair("a2c", "impala")}) {
    for (const char* env : {"cartpole", "pendulum", "cage2"}) {
      INFO(own << " " << env);
      const TemporaryFolder folder;
      const RunPlan alone_plan(fed(env, own, 0), default_catalog());
      const RunPlan plan(fed(env, fed_by, 1), default_catalog());
      Nearby carrier(plan);
      const Summary expected = train_fed(alone_plan, folder / "alone", nullptr);
      const Summary summary = train_fed(plan, folder / "fed", &carrier);
      CHECK(summary.digest == expected.digest);
      CHECK(summary.total_timesteps == expected.total_timesteps);
      CHECK(summary.episodes == expected.episodes);
    }
  }
}

TEST_CASE("a run with samplers elsewhere resumes to the same bits") {
  const RunPlan plan(fed("cartpole", "appo", 3), default_catalog());
  const auto uneven = [](std::int64_t n) { return std::array{0, 1, 0, 2, 3, 1, 1}[n % 7]; };
  const TemporaryFolder folder;
  Nearby untouched(plan, uneven);
  const Summary expected = train_fed(plan, folder / "whole", &untouched);
  for (const std::int64_t until : {200, 1000}) {
    Nearby carrier(plan, uneven);
    std::atomic<bool> stop{false};
    RunListener stopper;
    stopper.progress = [&](const Progress& p) { stop = stop || p.timesteps >= until; };
    CHECK(train_fed(plan, folder / "broken", &carrier, stop, stopper).preempted);
  }
  Nearby carrier(plan, uneven);
  const Summary rest = train_fed(plan, folder / "broken", &carrier);
  CHECK(rest.digest == expected.digest);
  CHECK(rest.episodes == expected.episodes);
  // Not without them.
  CHECK_THROWS_WITH_AS(train_fed(plan, folder / "broken", nullptr),
                       doctest::Contains("penstock.ray.resume"), DataError);
}

TEST_CASE("each fragment is taken once, and none that is too old") {
  const RunPlan plan(fed("cartpole", "appo", 1), default_catalog());
  Scripted carrier(plan);
  Engine engine(plan, alone(), &carrier);
  std::vector<std::vector<std::byte>> first;
  for (std::size_t seat = 0; seat < kSeats; ++seat) { first.push_back(carrier.fill(seat)); }
  std::vector<std::vector<std::byte>> second;
  for (std::size_t seat = 0; seat < kSeats; ++seat) { second.push_back(carrier.fill(seat)); }
  const auto feed = [&](const std::vector<std::vector<std::byte>>& messages) {
    carrier.messages.assign(messages.begin(), messages.end());
    for (std::size_t i = 0; i < messages.size() && engine.steps_left() > 0; ++i) {
      engine.sample(1);
    }
    return engine.steps_left() == 0;
  };

  CHECK_FALSE(feed({first[0], first[0], first[1], first[2]}));  // one of them twice
  CHECK(feed({first[3]}));
  Metrics metrics = engine.update();
  CHECK(metric_of(metrics, "async/repeated") == 1);
  CHECK(metric_of(metrics, "async/lag") == 0);
  CHECK(metric_of(metrics, "async/seats") == 4);

  // Of version 0 while the learner has version 1: late, but not too late.
  CHECK(feed({second[0], second[1], carrier.fill(2), carrier.fill(3)}));
  metrics = engine.update();
  CHECK(metric_of(metrics, "async/lag") == 1);
  CHECK(metric_of(metrics, "async/dropped") == 0);

  // Later ones of seats 2 and 3 were taken before these: their turn is over.
  CHECK_FALSE(feed({second[2], second[3], carrier.fill(0)}));
  CHECK_FALSE(feed({carrier.fill(1), carrier.fill(2)}));
  CHECK(feed({carrier.fill(3)}));
  metrics = engine.update();
  CHECK(metric_of(metrics, "async/repeated") == 3);

  // Two versions behind: dropped, with its episodes counted.
  Scripted late(plan);
  Engine other(plan, alone(), &late);
  const std::vector<std::byte> old = late.fill(0);
  for (int update = 0; update < 2; ++update) {
    for (const std::size_t seat : {1, 2, 3, 1}) { late.messages.push_back(late.fill(seat)); }
    for (std::size_t i = 0; i < kSeats; ++i) { other.sample(1); }
    REQUIRE(other.steps_left() == 0);
    other.update();
  }
  late.messages.push_back(old);
  for (const std::size_t seat : {1, 2, 3}) { late.messages.push_back(late.fill(seat)); }
  for (std::size_t i = 0; i < kSeats; ++i) { other.sample(1); }
  CHECK(other.steps_left() > 0);
  late.messages.push_back(late.fill(1));
  other.sample(1);
  CHECK(other.steps_left() == 0);
  CHECK(metric_of(other.update(), "async/dropped") == 1);
}

TEST_CASE("what a sampler in another process cannot be is said") {
  const auto refused = [](const Settings& settings) {
    const RunPlan plan(settings, default_catalog());
    Nearby carrier(plan);
    CHECK_THROWS_AS(Engine(plan, alone(), &carrier), ConfigError);
    CHECK_THROWS_AS(RemoteSampler(plan, {.number = 0, .of = kSeats, .epoch = 0}), ConfigError);
  };
  refused(fed("cartpole", "ppo", 0));
  Settings normalised = fed("cartpole", "appo", 1);
  normalised.add("normalise.obs", "true", "test");
  refused(normalised);
  refused(fed("dvrptw", "appo", 1));

  Settings odd = fed("cartpole", "appo", 1);
  odd.add("env.num_envs", "13", "test");
  const RunPlan plan(odd, default_catalog());
  Nearby carrier(plan);
  CHECK_THROWS_AS(Engine(plan, alone(), &carrier), ConfigError);
}

TEST_CASE("messages and states that are torn or of another config are refused") {
  const RunPlan plan(fed("cartpole", "appo", 1), default_catalog());
  Scripted carrier(plan);
  Engine engine(plan, alone(), &carrier);
  const std::vector<std::byte> whole = carrier.fill(0);
  for (const std::size_t size : {std::size_t{1}, std::size_t{40}}) {
    carrier.messages.assign({std::vector<std::byte>(whole.begin(), whole.begin() + size)});
    CHECK_THROWS_AS(engine.sample(1), DataError);
  }
  carrier.messages.assign({std::vector<std::byte>(whole.begin(), whole.end() - 1)});
  for (std::size_t seat = 1; seat < kSeats; ++seat) {
    carrier.messages.push_back(carrier.fill(seat));
  }
  for (int i = 0; i < 3; ++i) { engine.sample(1); }
  CHECK_THROWS_AS(engine.sample(1), DataError);

  RemoteSampler& sampler = carrier.sampler(0);
  CHECK_THROWS_AS(sampler.adopt(std::vector<float>(sampler.num_weights() - 1), 0), DataError);
  CHECK_THROWS_AS(sampler.load(carrier.sampler(1).save()), DataError);
  std::vector<std::byte> torn = sampler.save();
  torn.resize(torn.size() / 2);
  CHECK_THROWS_AS(sampler.load(torn), DataError);
}
