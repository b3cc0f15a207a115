#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include "penstock/core/base/errors.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/env/spec.h"

namespace penstock {
namespace {

/// Numbers, then counts of at most six things in twelve places, then a table with names.
Layout mixed_layout() {
  Layout layout;
  layout.append("clock", {2});
  layout.append_counts("seen", {3, 4}, 6);
  layout.append("stops", {2, 3}, {{.column = 1, .table = "zone", .num_names = 9}});
  return layout;
}

}  // namespace

TEST_CASE("a row's features are its numbers and how often each place is listed") {
  const Layout layout = mixed_layout();
  CHECK(layout.size() == 2 + 6 + 6);
  CHECK(layout.num_features() == 2 + 12 + 6);
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> row;
    std::map<int, int> counts;
    for (int i = 0; i < 2; ++i) { row.push_back(static_cast<float>(random() % 100)); }
    for (int i = 0; i < 6; ++i) {
      const int place = static_cast<int>(random() % 13) - 1;  // -1: nothing
      row.push_back(static_cast<float>(place));
      if (place >= 0) { ++counts[place]; }
    }
    for (int i = 0; i < 6; ++i) { row.push_back(static_cast<float>(random() % 9)); }
    std::vector<float> features(layout.num_features(), -7);
    layout.expand(row, features);
    CHECK(std::equal(row.begin(), row.begin() + 2, features.begin()));
    CHECK(std::equal(row.end() - 6, row.end(), features.end() - 6));
    for (int place = 0; place < 12; ++place) {
      REQUIRE(features[static_cast<std::size_t>(2 + place)] == static_cast<float>(counts[place]));
    }
    // The way back lists the same things, sorted, and what is expanded again is the same.
    std::vector<float> again(layout.size(), -7);
    layout.collect(features, again);
    std::vector<float> listed(row.begin() + 2, row.begin() + 8);
    std::vector<float> collected(again.begin() + 2, again.begin() + 8);
    std::sort(listed.begin(), listed.end());
    std::sort(collected.begin(), collected.end());
    CHECK(listed == collected);
    std::vector<float> twice(layout.num_features());
    layout.expand(again, twice);
    CHECK(twice == features);
  }
}

TEST_CASE("counts that are none are refused by the name of their part") {
  const Layout layout = mixed_layout();
  std::vector<float> row(layout.size());
  const auto refused = [&](std::size_t feature, float value) {
    std::vector<float> features(layout.num_features(), 0);
    features[feature] = value;
    CHECK_THROWS_WITH_AS(layout.collect(features, row), doctest::Contains("'seen'"), UsageError);
  };
  for (const float wrong : {-1.0F, 0.5F, 7.0F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    CAPTURE(wrong);
    refused(2, wrong);
    refused(13, wrong);
  }
  std::vector<float> full(layout.num_features(), 0);
  full[5] = 6;
  CHECK_NOTHROW(layout.collect(full, row));
  full[6] = 1;  // one too many in all
  CHECK_THROWS_AS(layout.collect(full, row), UsageError);
}

TEST_CASE("places and columns of names are told apart from amounts, in every row of a table") {
  const std::vector<bool> names = mixed_layout().names();
  const std::vector<bool> expected = {false, false,                            // clock
                                      true,  true,  true,  true,  true, true,  // seen
                                      false, true,  false, false, true, false};
  CHECK(names == expected);
}

namespace {

/// Adds its actions to a number of its seed. It lists no state: it is brought back by its actions.
struct Adder {
  struct Config {
    std::int64_t step = 1;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("step", step, "what an action adds", Range{1, 10});
    }
  };
  explicit Adder(const Config& given) : config(given) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{3}, 6}; }
  void reset(std::uint64_t seed, Row row) {
    sum = static_cast<std::int64_t>(seed % 100);
    row.obs[0] = static_cast<float>(sum);
  }
  Outcome step(std::int64_t action, Row row) {
    sum += action * config.step;
    row.obs[0] = static_cast<float>(sum);
    return {.reward = static_cast<float>(action)};
  }
  Config config;
  std::int64_t sum = 0;
};

struct AdderStep {
  float obs = 0;
  float reward = 0;
  bool truncated = false;
  float final_obs = 0;
  EpisodeEnd episode = {};
};

AdderStep step_one(VecEnv& envs, std::size_t env, std::int64_t action) {
  AdderStep x;
  bool terminated = false;
  envs.step({env, env + 1}, {.choices = {&action, 1}}, {.obs = {&x.obs, 1}},
            {.reward = {&x.reward, 1},
             .terminated = {&terminated, 1},
             .truncated = {&x.truncated, 1},
             .final_obs = {&x.final_obs, 1},
             .episode = {&x.episode, 1}});
  CHECK(!terminated);
  return x;
}

}  // namespace

TEST_CASE("an env that lists no state is brought back by its seed and actions, mid-episode") {
  for (const int before : {0, 1, 5, 6, 9}) {  // six steps end an episode
    CAPTURE(before);
    BatchedEnv<Adder> envs({.step = 3}, 2, 1);
    float first[2] = {};
    envs.reset({0, 2}, {.obs = first});
    for (int i = 0; i < before; ++i) { step_one(envs, 1, i % 3); }
    std::vector<std::byte> bytes;
    envs.save(1, bytes);
    BatchedEnv<Adder> other({.step = 3}, 2, 1);
    other.load(1, bytes);
    for (int i = 0; i < 8; ++i) {
      const AdderStep ours = step_one(envs, 1, 2 - i % 3);
      const AdderStep theirs = step_one(other, 1, 2 - i % 3);
      CHECK(ours.obs == theirs.obs);
      CHECK(ours.truncated == theirs.truncated);
      if (ours.truncated) {
        CHECK(ours.final_obs == theirs.final_obs);
        CHECK(ours.episode.total_reward == theirs.episode.total_reward);
        CHECK(theirs.episode.length == 6);
      }
    }
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK_THROWS_AS(other.load(1, std::span(bytes).first(size)), DataError);
    }
  }
}

TEST_CASE("keys set on an entry are its factories', and wrong ones are refused when it is made") {
  const EnvEntry entry = env_entry<Adder>("adder", "adds");
  const auto made = with_settings(entry, {"env.step=7"}, "--set").make_factory()->make(1, 1);
  float obs = 0;
  made->reset({0, 1}, {.obs = {&obs, 1}});
  CHECK(step_one(*made, 0, 2).obs == obs + 14);
  CHECK_THROWS_WITH_AS(with_settings(entry, {"env.setp=7"}, "--set").make_factory(),
                       doctest::Contains("'env.step'"), ConfigError);
  CHECK_THROWS_WITH_AS(with_settings(entry, {"env.step=11"}, "--set").make_factory(),
                       doctest::Contains("1 to 10"), ConfigError);
  CHECK(value_text(entry.make_factory()->fields()[0]) == "1");  // the entry itself is unchanged
}

}  // namespace penstock
