#include "penstock/core/env/batched_env.h"

#include <doctest/doctest.h>

#include <array>
#include <stdexcept>
#include <string>

namespace penstock {
namespace {

/// Counts: the row is (steps in this episode, low bits of the seed). The action says how to end.
class ScriptedEnv {
 public:
  enum Action : std::int64_t { go_on = 0, terminate = 1, truncate = 2, both = 3 };
  struct Config {
    std::int64_t max_steps = 4;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "limit");
    }
  };

  explicit ScriptedEnv(const Config& config) : max_steps_(config.max_steps) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(2), Discrete{4, true}, max_steps_}; }

  void reset(std::uint64_t seed, Row row) {
    seed_ = seed & 0xFFFF;
    steps_ = 0;
    write(row);
  }
  Outcome step(std::int64_t action, Row row) {
    ++steps_;
    write(row);
    return {.reward = 10.0F * static_cast<float>(steps_),
            .terminated = action == terminate || action == both,
            .truncated = action == truncate || action == both,
            .success = action == terminate ? Success::yes : Success::no};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(seed_, steps_);
  }

 private:
  void write(Row row) const {
    row.obs[0] = static_cast<float>(steps_);
    row.obs[1] = static_cast<float>(seed_);
    row.legal[1] = row.legal[1] && steps_ > 0;  // reads what BatchedEnv put there
  }

  std::uint64_t seed_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t max_steps_;
};

/// Two scripted envs and the memory they write to.
struct Bench {
  explicit Bench(std::int64_t max_steps = 4) : env({.max_steps = max_steps}, 2, kSeed) {
    env.reset({0, 2}, {obs, legal});
  }
  void step(std::array<std::int64_t, 2> actions) {
    env.step({0, 2}, {actions, {}}, {obs, legal},
             {reward, terminated, truncated, final_obs, episode});
  }
  static float first_seed(std::uint32_t i, std::uint64_t number) {
    return static_cast<float>(episode_seed(kSeed, i, number) & 0xFFFF);
  }

  static constexpr std::uint64_t kSeed = 9;
  BatchedEnv<ScriptedEnv> env;
  std::array<float, 4> obs{};
  std::array<bool, 8> legal{};
  std::array<float, 2> reward{};
  std::array<bool, 2> terminated{};
  std::array<bool, 2> truncated{};
  std::array<float, 4> final_obs{-1, -1, -1, -1};
  std::array<EpisodeEnd, 2> episode{};
};

}  // namespace

TEST_CASE("reset starts each env with the seed of its first episode") {
  const Bench bench;
  CHECK(bench.obs == std::array<float, 4>{0, Bench::first_seed(0, 0), 0, Bench::first_seed(1, 0)});
}

TEST_CASE("an env that ends starts again at once and the other goes on") {
  Bench bench;
  bench.step({ScriptedEnv::go_on, ScriptedEnv::go_on});
  bench.step({ScriptedEnv::terminate, ScriptedEnv::go_on});

  CHECK(bench.terminated == std::array{true, false});
  CHECK(bench.truncated == std::array{false, false});
  CHECK(bench.reward == std::array{20.0F, 20.0F});
  CHECK(bench.obs == std::array<float, 4>{0, Bench::first_seed(0, 1), 2, Bench::first_seed(1, 0)});
  CHECK(bench.final_obs == std::array<float, 4>{2, Bench::first_seed(0, 0), -1, -1});
  CHECK(bench.episode[0].total_reward == 30);
  CHECK(bench.episode[0].length == 2);
  CHECK(bench.episode[0].success == Success::yes);
}

TEST_CASE("the sums of an episode start from zero after the last one") {
  Bench bench;
  bench.step({ScriptedEnv::terminate, ScriptedEnv::go_on});
  bench.step({ScriptedEnv::terminate, ScriptedEnv::go_on});
  CHECK(bench.episode[0].total_reward == 10);
  CHECK(bench.episode[0].length == 1);
  CHECK(bench.obs[1] == Bench::first_seed(0, 2));
}

TEST_CASE("an env may cut itself off, or end in both ways at once") {
  Bench bench;
  bench.step({ScriptedEnv::truncate, ScriptedEnv::both});
  CHECK(bench.terminated == std::array{false, true});
  CHECK(bench.truncated == std::array{true, true});
}

TEST_CASE("episodes are cut off at the limit, even when they terminate there") {
  Bench bench(2);
  bench.step({ScriptedEnv::go_on, ScriptedEnv::go_on});
  CHECK(bench.truncated == std::array{false, false});
  bench.step({ScriptedEnv::go_on, ScriptedEnv::terminate});
  CHECK(bench.truncated == std::array{true, true});
  CHECK(bench.terminated == std::array{false, true});
  CHECK(bench.episode[0].length == 2);
  CHECK(bench.episode[0].success == Success::no);
}

TEST_CASE("no limit means no end") {
  Bench bench(0);
  for (int t = 0; t < 1000; ++t) { bench.step({ScriptedEnv::go_on, ScriptedEnv::go_on}); }
  CHECK(bench.obs[0] == 1000);
}

TEST_CASE("masks are all true when an env gets its row") {
  Bench bench;
  CHECK(bench.legal == std::array{true, false, true, true, true, false, true, true});
  bench.step({ScriptedEnv::go_on, ScriptedEnv::terminate});
  CHECK(bench.legal == std::array{true, true, true, true, true, false, true, true});
}

TEST_CASE("a saved env keeps its sums and its episode number") {
  Bench bench;
  bench.step({ScriptedEnv::terminate, ScriptedEnv::go_on});
  bench.step({ScriptedEnv::go_on, ScriptedEnv::go_on});
  std::vector<std::byte> bytes;
  bench.env.save(0, bytes);

  Bench fresh;
  fresh.env.load(0, bytes);
  fresh.step({ScriptedEnv::terminate, ScriptedEnv::go_on});
  CHECK(fresh.episode[0].total_reward == 30);
  CHECK(fresh.obs[1] == Bench::first_seed(0, 2));
}

TEST_CASE("an entry makes envs from the config its fields point into") {
  const EnvEntry entry = env_entry<ScriptedEnv>("scripted", "for tests");
  const auto factory = entry.make_factory();
  std::vector<Field> fields = factory->fields();
  REQUIRE(fields.size() == 1);
  CHECK(fields[0].path == "env.max_steps");
  *std::get<std::int64_t*>(fields[0].target) = 11;
  CHECK(factory->spec().max_episode_steps == 11);
  CHECK(factory->make(3, 0)->num_envs() == 3);
  CHECK(entry.make_factory()->spec().max_episode_steps == 4);  // factories share nothing
}

namespace {

/// Throws at a step, or when an episode begins.
struct BrittleEnv {
  struct Config {
    bool at_reset = false;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("at_reset", at_reset, "");
    }
  };
  explicit BrittleEnv(const Config& c) : config(c) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{2}, 0}; }
  void reset(std::uint64_t, Row row) {
    if (config.at_reset) { throw std::runtime_error("no licence"); }
    row.obs[0] = 0;
    steps = 0;
  }
  Outcome step(std::int64_t, Row row) {
    row.obs[0] = 0;
    if (++steps == 3) { throw std::runtime_error("the solver diverged"); }
    return {};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(steps);
  }
  Config config;
  int steps = 0;
};

}  // namespace

TEST_CASE("what an env throws is told with env, seed and step") {
  std::array<float, 2> obs{};
  std::array<float, 2> final_obs{};
  std::array<float, 2> reward{};
  std::array<bool, 2> terminated{};
  std::array<bool, 2> truncated{};
  std::array<EpisodeEnd, 2> ends{};
  const std::array<std::int64_t, 2> actions{};
  BatchedEnv<BrittleEnv> envs({}, 2, 9);
  envs.reset({0, 2}, {obs, {}});
  const auto step = [&] {
    envs.step({0, 2}, {.choices = actions}, {obs, {}},
              {.reward = reward,
               .terminated = terminated,
               .truncated = truncated,
               .final_obs = final_obs,
               .episode = ends});
  };
  step();
  step();
  const std::string expected = "env 0, episode seed " + std::to_string(episode_seed(9, 0, 0)) +
                               ", step 3: the solver diverged";
  CHECK_THROWS_WITH_AS(step(), expected.c_str(), Error);
  BatchedEnv<BrittleEnv> unable({.at_reset = true}, 2, 9);
  CHECK_THROWS_WITH_AS(unable.reset({1, 2}, {obs, {}}), doctest::Contains("step 0: no licence"),
                       Error);
}

TEST_CASE("envs that share nothing have nothing to save, and refuse what others shared") {
  Bench bench;
  CHECK(bench.env.shared() == nullptr);
  CHECK(bench.env.async() == nullptr);
  CHECK(save_shared(bench.env).empty());
  CHECK_NOTHROW(load_shared(bench.env, {}));
  const std::vector<std::byte> bytes(1);
  CHECK_THROWS_AS(load_shared(bench.env, bytes), DataError);
}

}  // namespace penstock
