#include "domains/cage2/sim/constrained_workflow.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/cage2/sim/cage2.h"

namespace penstock::cage2::constrained_workflow_test {
namespace {

constexpr double kWanted = 0.9;
constexpr double kRate = 2;

WorkflowEnv::Config bound_config(const std::string& on = "all") {
  WorkflowEnv::Config config;
  config.constraint_on = on;
  config.red = "meander";
  config.alpha = 3;
  config.beta = 1;
  config.constraint = kWanted;
  config.constraint_rate = kRate;
  return config;
}

/// Some envs with their rows, and how a rollout of one episode each ends.
struct Batch {
  explicit Batch(EnvSlice slice, const std::string& on = "all")
      : envs(bound_config(on), slice, 7),
        first(slice.first),
        count(slice.count),
        obs(count * envs.spec().obs.size()),
        final_obs(obs.size()),
        reward(count),
        terminated(new bool[count]),
        truncated(new bool[count]),
        ends(count) {
    envs.reset({0, count}, {obs, {}});
  }
  /// Random repairs; the actions of an env depend on its number in the run alone.
  void play(std::uint64_t rollout) {
    std::vector<std::int64_t> choices(count);
    for (int t = 0; t < 100; ++t) {
      for (std::size_t i = 0; i < count; ++i) {
        Random random({.seed = rollout, .owner = static_cast<std::uint32_t>(first + i)});
        random = Random(random.next64() + static_cast<std::uint64_t>(t));
        choices[i] = random.below(3) == 0 ? 132 + random.below(13) : 1;
      }
      envs.step({0, count}, {.choices = choices}, {obs, {}},
                {.reward = reward,
                 .terminated = {terminated.get(), count},
                 .truncated = {truncated.get(), count},
                 .final_obs = final_obs,
                 .episode = ends});
    }
  }
  double multiplier() { return metric("rollout/multiplier"); }
  /// -1 where it is not told.
  double metric(const std::string& name) {
    for (const auto& [each, value] : envs.shared()->take_metrics()) {
      if (each == name) { return value; }
    }
    return -1;
  }

  ConstrainedWorkflow envs;
  std::size_t first;
  std::size_t count;
  std::vector<float> obs;
  std::vector<float> final_obs;
  std::vector<float> reward;
  std::unique_ptr<bool[]> terminated;  // vector<bool> has no span
  std::unique_ptr<bool[]> truncated;
  std::vector<EpisodeEnd> ends;
};

TEST_CASE("the multiplier grows by what the mean compliance of a rollout lacks") {
  Batch batch({.first = 0, .count = 5});
  double expected = 4;  // alpha + beta
  for (std::uint64_t rollout = 0; rollout < 6; ++rollout) {
    CHECK(batch.multiplier() == doctest::Approx(expected));
    batch.play(rollout);
    double sum = 0;
    for (const EpisodeEnd& end : batch.ends) {
      const double c = end.stats[1];
      sum += c;
      CHECK(end.total_reward ==
            doctest::Approx(end.stats[0] + expected * (c - kWanted)).epsilon(1e-5));
    }
    const double before = expected;
    expected = std::max(0.0, expected + kRate * (kWanted - sum / 5));
    CHECK(expected != before);
    batch.envs.shared()->between_rollouts({});
  }
  batch.envs.shared()->between_rollouts({});  // nothing ended
  CHECK(batch.multiplier() == doctest::Approx(expected));
}

TEST_CASE("a constraint has a multiplier for each count that it is on") {
  constexpr std::size_t kEnvs = 5;
  for (const char* on : {"lost", "both"}) {
    Batch batch({.first = 0, .count = kEnvs}, on);
    const bool both = std::string(on) == "both";
    double all = both ? 4 : 0;
    double lost = 4;
    for (std::uint64_t rollout = 0; rollout < 6; ++rollout) {
      CHECK(batch.multiplier() == doctest::Approx(both ? all : -1));
      CHECK(batch.metric("rollout/lost_multiplier") == doctest::Approx(lost));
      batch.play(rollout);
      double sum = 0;
      double lost_sum = 0;
      for (const EpisodeEnd& end : batch.ends) {
        sum += end.stats[1];
        lost_sum += end.stats[3];
        const double paid = all * (end.stats[1] - kWanted) + lost * (end.stats[3] - kWanted);
        CHECK(end.total_reward == doctest::Approx(end.stats[0] + paid).epsilon(1e-5));
      }
      CHECK(sum != lost_sum);
      if (both) { all = std::max(0.0, all + kRate * (kWanted - sum / kEnvs)); }
      lost = std::max(0.0, lost + kRate * (kWanted - lost_sum / kEnvs));
      batch.envs.shared()->between_rollouts({});
    }
  }
}

TEST_CASE("processes that hold some of the envs each come to the multiplier of all") {
  Batch whole({.first = 0, .count = 5});
  Batch low({.first = 0, .count = 2, .of = 5});
  Batch high({.first = 2, .count = 3, .of = 5});
  for (std::uint64_t rollout = 0; rollout < 3; ++rollout) {
    std::vector<std::byte> noted;
    for (Batch* part : {&whole, &low, &high}) { part->play(rollout); }
    whole.envs.shared()->between_rollouts([&](std::span<const std::byte> all) {
      noted.assign(all.begin(), all.end());
      return noted;
    });
    for (Batch* part : {&low, &high}) {
      part->envs.shared()->between_rollouts([&](std::span<const std::byte> here) {
        const std::size_t each = noted.size() / 5;
        CHECK(std::equal(here.begin(), here.end(), noted.begin() + part->first * each));
        return noted;
      });
      CHECK(part->multiplier() == whole.multiplier());
    }
  }
}

TEST_CASE("the multiplier is saved and loaded, an evaluation has that of the training") {
  Batch batch({.first = 0, .count = 3});
  batch.play(1);
  batch.envs.shared()->between_rollouts({});
  const std::vector<std::byte> bytes = save_shared(batch.envs);
  Batch other({.first = 0, .count = 1});
  CHECK(other.multiplier() == 4);
  load_shared(other.envs, bytes);
  CHECK(other.multiplier() == batch.multiplier());
  for (const double bad : {-1.0, std::nan("")}) {
    std::vector<std::byte> wrong(2 * sizeof(double));
    std::memcpy(wrong.data() + sizeof(double), &bad, sizeof(double));
    CHECK_THROWS_AS(load_shared(other.envs, wrong), DataError);
  }
  CHECK_THROWS_AS(load_shared(other.envs, std::vector<std::byte>(3)), DataError);
}

TEST_CASE("without a constraint the envs share nothing and are as they were") {
  WorkflowEnv::Config config = bound_config();
  config.constraint = 0;
  BatchedEnv<WorkflowEnv> plain(config, 2, 7);
  CHECK(plain.shared() == nullptr);
  std::vector<float> obs(2 * plain.spec().obs.size());
  plain.reset({0, 2}, {obs, {}});
  Batch bound({.first = 0, .count = 2});
  std::vector<std::byte> short_state;
  std::vector<std::byte> long_state;
  plain.save(0, short_state);
  static_cast<VecEnv&>(bound.envs).save(0, long_state);
  CHECK(short_state.size() + 2 * sizeof(double) == long_state.size());
}

}  // namespace
}  // namespace penstock::cage2::constrained_workflow_test
