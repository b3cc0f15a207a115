#include "penstock/core/peers/peers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <thread>

#include "core/train/crew.h"
#include "penstock/app/catalog/catalog.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/train/engine.h"

using namespace penstock;

namespace {

/// Where two threads meet that stand for two processes.
struct Meeting {
  std::barrier<> everyone{2};
  std::array<std::span<const std::byte>, 2> offered;
};

/// One of two processes, with memory of its own: it sees the other's only inside these calls.
class OneOfTwo final : public Peers {
 public:
  OneOfTwo(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}
  [[nodiscard]] std::size_t size() const override { return 2; }
  [[nodiscard]] std::size_t rank() const override { return rank_; }
  void sum(std::span<float> values) override {
    combine(values, [](float& a, float b) { a += b; });
  }
  void sum(std::span<double> values) override {
    combine(values, [](double& a, double b) { a += b; });
  }
  void merge(std::span<Moments> moments) override {
    combine(moments, [](Moments& a, const Moments& b) { a.merge(b); });
  }
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine) override {
    std::vector<std::vector<std::byte>> all;
    exchange(mine, [&](std::span<const std::byte> first, std::span<const std::byte> second) {
      if (rank_ == 0) { all = {{first.begin(), first.end()}, {second.begin(), second.end()}}; }
    });
    return all;
  }
  void broadcast(std::vector<std::byte>& bytes) override {
    std::vector<std::byte> got;
    exchange(bytes, [&](std::span<const std::byte> first, std::span<const std::byte>) {
      got.assign(first.begin(), first.end());
    });
    bytes = got;
  }

 private:
  template <class Read>
  void exchange(std::span<const std::byte> mine, Read read) {
    meeting_.offered[rank_] = mine;
    meeting_.everyone.arrive_and_wait();
    read(meeting_.offered[0], meeting_.offered[1]);
    meeting_.everyone.arrive_and_wait();
  }

  /// Rank 0's goes first, on both sides: addition is not associative in floats, nor is merging.
  template <class T, class Add>
  void combine(std::span<T> values, Add add) {
    std::vector<T> whole;
    exchange(std::as_bytes(values), [&](auto first, auto second) {
      const auto* left = reinterpret_cast<const T*>(first.data());
      const auto* right = reinterpret_cast<const T*>(second.data());
      whole.assign(left, left + values.size());
      for (std::size_t i = 0; i < values.size(); ++i) { add(whole[i], right[i]); }
    });
    std::ranges::copy(whole, values.begin());
  }

  Meeting& meeting_;
  std::size_t rank_;
};

std::string digest_after(const RunPlan& plan, Peers& peers) {
  Engine engine(plan, peers);
  for (int update = 0; update < 4; ++update) {
    while (!engine.sample(5)) {}
    engine.update();
  }
  return engine.digest();
}

std::array<std::string, 2> digests_of_two(const RunPlan& plan) {
  Meeting meeting;
  std::array<std::string, 2> digests;
  const auto take_part = [&](std::size_t rank) {
    OneOfTwo peers(meeting, rank);
    digests[rank] = digest_after(plan, peers);
  };
  std::thread other(take_part, 1);
  take_part(0);
  other.join();
  return digests;
}

RunPlan plan_of(const Catalog& catalog, const std::string& env, const std::string& more) {
  Settings settings;
  settings.add_toml(
      "seed = 3\nthreads = 1\n[rollout]\nsteps = 16\nshards = 4\n[env]\nnum_envs = 14\nid = \"" +
          env + "\"\n" + more,
      "test");
  return RunPlan(settings, catalog);
}

}  // namespace

TEST_CASE("a run over two processes has the bits of one") {
  const Catalog catalog = default_catalog();
  const std::string scaled = "[normalise]\nobs = true\nreward = true\n";
  const std::string split = "[ppo]\nminibatch = 50\ntarget_kl = 0.01\n";
  for (const auto& [env, more] :
       {std::pair{"cartpole", split + scaled},
        {"pendulum", split + scaled},
        {"masked", split},
        {"cage2", split},
        {"dvrptw", "mask = \"learnt\"\ncustomers = 6\nembedding_interval = 100\n" + split}}) {
    INFO(env);
    const RunPlan plan = plan_of(catalog, env, more);
    const std::string expected = digest_after(plan, alone());
    const auto digests = digests_of_two(plan);
    CHECK(digests[0] == expected);
    CHECK(digests[1] == expected);
  }
}

TEST_CASE("processes whose weights differ are found out, with both digests") {
  const Catalog catalog = default_catalog();
  const RunPlan plan = plan_of(catalog, "cartpole", "");
  const std::atomic<bool> stop = false;
  Meeting meeting;
  std::string theirs;
  std::thread other([&] {
    OneOfTwo peers(meeting, 1);
    Engine engine(plan, peers);
    Engine::Snapshot snapshot;
    engine.snapshot(snapshot);
    engine.set_weights({{snapshot.tensors[0].name, snapshot.tensors[0].tensor + 1e-6}});
    theirs = engine.digest();
    CHECK_THROWS_AS((void)penstock::detail::Crew(plan, engine, peers).follow(stop), Error);
  });
  OneOfTwo peers(meeting, 0);
  Engine engine(plan, peers);
  std::string told;
  try {
    penstock::detail::Crew(plan, engine, peers).compare_weights();
  } catch (const Error& error) { told = error.what(); }
  penstock::detail::Crew::dismiss(peers, Exit::failed);
  other.join();
  CHECK(told.find("rank 1 have the digest " + theirs) != std::string::npos);
  CHECK(told.find("rank 0 " + engine.digest()) != std::string::npos);
}

TEST_CASE("A2C over two processes has the bits of one") {
  const Catalog catalog = default_catalog();
  Settings settings;
  settings.add_toml(
      "algo = \"a2c\"\nseed = 3\nthreads = 1\n[rollout]\nsteps = 8\nshards = 4\n"
      "[env]\nnum_envs = 10\nid = \"cartpole\"\n",
      "test");
  const RunPlan plan(settings, catalog);
  CHECK(digests_of_two(plan)[1] == digest_after(plan, alone()));
}

namespace {

/// Some of them pay, once, what squared is beyond a float.
struct Jackpot {
  struct Config {
    template <class Visitor>
    void fields(Visitor&) {}
  };
  explicit Jackpot(const Config&) {}
  [[nodiscard]] static EnvSpec spec() { return {Layout(1), Discrete{2}, 10}; }
  void reset(std::uint64_t seed, Row row) {
    lucky = seed % 5 == 0;
    row.obs[0] = static_cast<float>(seed % 7);
  }
  Outcome step(std::int64_t action, Row row) {
    row.obs[0] = static_cast<float>(++age % 7);
    return {.reward = lucky && age % 13 == 0 ? 1e25F : static_cast<float>(action)};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(age, lucky);
  }
  std::int64_t age = 0;
  bool lucky = false;
};

}  // namespace

TEST_CASE("fault 12: processes skip the same minibatches, whoever of them sees what is wrong") {
  Catalog catalog = default_catalog();
  catalog.envs.push_back(env_entry<Jackpot>("jackpot", "pays too much"));
  for (const std::string learner : {"eager", "fused"}) {
    Settings settings;
    settings.add_toml(
        "seed = 3\nthreads = 1\n[rollout]\nsteps = 16\nshards = 4\n[env]\nnum_envs = 14\n"
        "id = \"jackpot\"\n[ppo]\nminibatch = 30\nmax_skipped = 1000\n",
        "test");
    settings.add("learner", learner, "test");
    const RunPlan plan(settings, catalog);
    CAPTURE(learner);
    Engine engine(plan);
    for (int update = 0; update < 4; ++update) {
      engine.sample(engine.steps_left());
      engine.update();
    }
    CHECK(!engine.take_skipped().empty());
    const auto digests = digests_of_two(plan);
    CHECK(digests[0] == engine.digest());
    CHECK(digests[1] == engine.digest());
  }
}
