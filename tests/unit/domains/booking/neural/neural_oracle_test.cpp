#include "penstock/domains/booking/neural/neural_oracle.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/domains/booking/routing/checker.h"
#include "support/sanitized.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

TEST_CASE("request by request, every plan passes the checker; dead ends are repaired") {
  // An untrained network and few vehicles: dead ends are common.
  NeuralOracle oracle(pack(small_model()));
  const std::uint64_t last = kSanitized ? 6 : 30;
  for (std::uint64_t seed = 0; seed < last; ++seed) {
    const Mode mode = seed % 2 == 0 ? Mode::ride : Mode::deliver;
    const Instance day = random_day(seed, {.mode = mode, .requests = 16, .vehicles = 3});
    Plan plan;
    plan.routes.resize(3);
    std::vector<std::int32_t> served;
    for (std::int32_t request = 0; request < 16; ++request) {
      const Plan before = plan;
      RoutingProblem problem{.instance = &day, .served = served, .request = request, .plan = &plan};
      oracle.solve({&problem, 1});
      if (problem.fits) {
        served.push_back(request);
      } else {
        CHECK(plan == before);
      }
      const auto violation = find_violation(day, plan, served);
      CHECK_MESSAGE(!violation, violation.value_or(""));
      CHECK(problem.cost == cost_of(day, plan));
    }
  }
  const NeuralOracle::Tally& tally = oracle.tally();
  CHECK(tally.problems == static_cast<std::int64_t>(16 * last));
  CHECK(tally.repaired > 0);
  CHECK(tally.repaired + tally.inserted + tally.refused < tally.problems);
}

TEST_CASE("oracles by name") {
  const std::string path =
      (std::filesystem::temp_directory_path() / "penstock_oracle_test.safetensors").string();
  small_model().save(path);
  CHECK(make_any_oracle("neural:" + path));
  CHECK(make_any_oracle("neural-8:" + path));
  CHECK(make_any_oracle("neural+insertion:" + path));
  CHECK_THROWS_AS(make_any_oracle("neural+relocate"), UsageError);
  CHECK(make_any_oracle("rr-5"));
  CHECK_THROWS_AS(make_any_oracle("neural-9"), UsageError);
  CHECK_THROWS_AS(make_any_oracle("neural:/nowhere"), IoError);
  CHECK_THROWS_AS(make_any_oracle("rr"), UsageError);
  std::filesystem::remove(path);
}

TEST_CASE("the env asks the network once per step for all envs of a range") {
  const auto model = pack(small_model());
  const OracleMaker maker = [&](std::string_view) { return std::make_unique<NeuralOracle>(model); };
  DvrptwConfig config;
  config.customers = 6;
  constexpr std::size_t kEnvs = 4;
  // All envs in one range, and each alone.
  std::vector<std::vector<float>> rewards;
  for (const std::size_t size : {kEnvs, std::size_t{1}}) {
    const auto envs = make_dvrptw(config, kEnvs, 3, maker);
    const std::size_t features = envs->spec().obs.size();
    std::vector<float> obs(kEnvs * features);
    std::vector<float> final_obs(kEnvs * features);
    std::vector<float> reward(kEnvs);
    std::vector<std::int64_t> actions(kEnvs, 5);
    const auto terminated = std::make_unique<bool[]>(kEnvs);  // NOLINT(modernize-avoid-c-arrays)
    const auto truncated = std::make_unique<bool[]>(kEnvs);   // NOLINT(modernize-avoid-c-arrays)
    std::vector<EpisodeEnd> ends(kEnvs);
    const auto rows = [&](std::size_t first) {
      ObsRows out;
      out.obs = std::span(obs).subspan(first * features, size * features);
      return out;
    };
    std::vector<float> all;
    for (std::size_t i = 0; i < kEnvs; i += size) { envs->reset({i, i + size}, rows(i)); }
    for (int step = 0; step < 6; ++step) {
      for (std::size_t i = 0; i < kEnvs; i += size) {
        ActionRows taken;
        taken.choices = std::span(actions).subspan(i, size);
        OutcomeRows outcome;
        outcome.reward = std::span(reward).subspan(i, size);
        outcome.terminated = {terminated.get() + i, size};
        outcome.truncated = {truncated.get() + i, size};
        outcome.final_obs = std::span(final_obs).subspan(i * features, size * features);
        outcome.episode = std::span(ends).subspan(i, size);
        envs->step({i, i + size}, taken, rows(i), outcome);
      }
      all.insert(all.end(), reward.begin(), reward.end());
    }
    rewards.push_back(all);
  }
  CHECK(rewards[0] == rewards[1]);
}

TEST_CASE("with insertion a plan is never dearer than the plan so far with the request inserted") {
  NeuralOracle oracle(pack(small_model()), {.or_insertion = true});
  const auto insertion = make_search_oracle("insertion");
  const Instance day = random_day(11, {.requests = 12, .vehicles = 6});
  Plan plan;
  plan.routes.resize(6);
  std::vector<std::int32_t> served;
  for (std::int32_t request = 0; request < 12; ++request) {
    Plan inserted = plan;
    RoutingProblem simple{
        .instance = &day, .served = served, .request = request, .plan = &inserted};
    insertion->solve({&simple, 1});
    RoutingProblem problem{.instance = &day, .served = served, .request = request, .plan = &plan};
    oracle.solve({&problem, 1});
    REQUIRE(problem.fits);
    CHECK(problem.cost <= simple.cost);
    CHECK(problem.cost == cost_of(day, plan));
    served.push_back(request);
    CHECK_FALSE(find_violation(day, plan, served));
  }
  CHECK(oracle.tally().kept > 0);
}
