#include "penstock/core/peers/peers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <thread>

#include "penstock/app/catalog/catalog.h"
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
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    exchange(mine, [&](std::span<const std::byte> first, std::span<const std::byte> second) {
      std::ranges::copy(second, std::ranges::copy(first, all.begin()).out);
    });
  }
  void broadcast(std::span<std::byte> bytes) override {
    std::vector<std::byte> got;
    exchange(bytes, [&](std::span<const std::byte> first, std::span<const std::byte>) {
      got.assign(first.begin(), first.end());
    });
    std::ranges::copy(got, bytes.begin());
  }
  bool agree(bool here) override {
    double votes = here ? 1 : 0;
    sum({&votes, 1});
    return votes > 0;
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
  for (const auto& [env, more] : {std::pair{"cartpole", split + scaled},
                                  {"pendulum", split + scaled},
                                  {"masked", split},
                                  {"cage2", split},
                                  {"dvrptw", "mask = \"none\"\ncustomers = 6\n" + split}}) {
    INFO(env);
    const RunPlan plan = plan_of(catalog, env, more);
    const std::string expected = digest_after(plan, alone());
    const auto digests = digests_of_two(plan);
    CHECK(digests[0] == expected);
    CHECK(digests[1] == expected);
  }
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
