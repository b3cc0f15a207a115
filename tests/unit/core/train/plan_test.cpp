#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/algo/learner.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/limits.h"
#include "penstock/core/train/config.h"

using namespace penstock;

namespace {

Settings given(std::initializer_list<std::string> assignments) {
  Settings settings;
  for (const std::string& assignment : assignments) {
    settings.add_assignment(assignment, "--set");
  }
  return settings;
}

}  // namespace

TEST_CASE("an env's own keys stand beside env.id") {
  const Catalog catalog = default_catalog();
  const RunPlan plan(given({"env.id=pendulum", "env.max_steps=50"}), catalog);
  CHECK(plan.env().spec().max_episode_steps == 50);
  CHECK(to_toml(plan.fields()).find("max_steps = 50  # --set") != std::string::npos);
}

TEST_CASE("the resolved config reads back to itself") {
  const Catalog catalog = default_catalog();
  const RunPlan plan(given({"env.id=masked", "env.num_actions=145", "env.num_features=1212",
                            "ppo.clip=0.3", "net.hidden=[32, 16]", "run.dir=a \"quoted\" name"}),
                     catalog);
  Settings again;
  again.add_toml(to_toml(plan.fields()), "config.toml");
  const RunPlan copy(again, catalog);
  for (std::size_t i = 0; i < plan.fields().size(); ++i) {
    CHECK(value_text(plan.fields()[i]) == value_text(copy.fields()[i]));
  }
}

TEST_CASE("mistakes are named with the nearest spelling") {
  const Catalog catalog = default_catalog();
  CHECK_THROWS_WITH_AS(RunPlan(given({"env.id=cartpol"}), catalog), doctest::Contains("'cartpole'"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(RunPlan(given({"ppo.clp=1"}), catalog), doctest::Contains("'ppo.clip'"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(RunPlan(given({"env.num_envs=1000000000"}), catalog),
                       doctest::Contains("1 to 65536"), ConfigError);
  CHECK_THROWS_WITH_AS(RunPlan(given({"net.kind=mpl"}), catalog), doctest::Contains("'mlp'"),
                       ConfigError);
}

TEST_CASE("what looks like a mistake is warned of with a proposal") {
  const Catalog catalog = default_catalog();
  const auto few =
      RunPlan(given({"env.num_envs=4096", "total_timesteps=100000"}), catalog).warnings();
  REQUIRE(!few.empty());
  CHECK(few[0].find("--total-timesteps") != std::string::npos);
  CHECK(RunPlan(given({}), catalog).warnings().empty());
}

TEST_CASE("the memory estimate grows with what it counts") {
  const Catalog catalog = default_catalog();
  const auto bytes = [&](std::initializer_list<std::string> a) {
    return RunPlan(given(a), catalog).memory().total();
  };
  const std::int64_t small = bytes({"env.num_envs=64"});
  CHECK(bytes({"env.num_envs=4096"}) > 5 * small);
  // 256 envs of 1,212 floats: 37 MB of rows per 32 steps and a few more for the rest.
  const std::int64_t wide = bytes({"env.id=masked", "env.num_features=1212", "env.num_actions=145",
                                   "env.num_envs=256", "rollout.steps=31"});
  CHECK(wide > 256LL * 32 * 1212 * 4);
  CHECK(wide < 3 * 256LL * 32 * 1212 * 4);
}

TEST_CASE("a run that cannot fit is refused with what takes the memory") {
  const Catalog catalog = default_catalog();
  const RunPlan plan(given({"env.num_envs=4096", "rollout.steps=1024"}), catalog);
  const std::int64_t need = plan.memory().total();
  CHECK(need > 4096LL * 1024 * 4 * 4);
  plan.require_memory({.left = need});
  CHECK_THROWS_WITH_AS(plan.require_memory({.left = need - 1}),
                       doctest::Contains("MB are free: rollout"), ConfigError);
  CHECK_THROWS_WITH_AS(plan.require_memory({need - 1, "`ulimit -v`", "`ulimit -v unlimited`"}),
                       doctest::Contains("rollout.steps"), ConfigError);
}

TEST_CASE("fault 20: a run that cannot fit into its control group is refused with the remedy") {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("penstock-room-" + std::to_string(::getpid()));
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  };
  const Catalog catalog = default_catalog();
  const RunPlan plan(given({"env.num_envs=4096", "rollout.steps=1024"}), catalog);
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.current", "100000000");
  write("sys/fs/cgroup/job/memory.max", "100000000000");
  plan.require_room(Limits(root));
  write("sys/fs/cgroup/job/memory.max", "200000000");
  CHECK_THROWS_WITH_AS(plan.require_room(Limits(root)),
                       doctest::Contains("sys/fs/cgroup/job/memory.max: rollout"), ConfigError);
  CHECK_THROWS_WITH_AS(plan.require_room(Limits(root)),
                       doctest::Contains("100 MB are free under /"), ConfigError);
  CHECK_THROWS_WITH_AS(plan.require_room(Limits(root)), doctest::Contains("`--memory` of docker"),
                       ConfigError);
  write("sys/fs/cgroup/job/memory.max", "max");
  write("sys/fs/cgroup/job/pids.max", "7");
  write("sys/fs/cgroup/job/pids.current", "7");
  CHECK_THROWS_WITH_AS(plan.require_room(Limits(root)),
                       doctest::Contains("processes and threads and 0 are free"), ConfigError);
  fs::remove_all(root);
}

TEST_CASE("a minibatch that is too large for memory is split, and so does not count as a whole") {
  const Catalog catalog = default_catalog();
  const auto batches = [&](const char* minibatch) {
    return RunPlan(given({"net.kind=transformer", "env.num_envs=4096", "rollout.steps=1024",
                          minibatch}),
                   catalog)
        .memory()
        .batches;
  };
  const std::int64_t whole = batches("ppo.minibatch=4194304");
  CHECK(whole == batches("ppo.minibatch=2097152"));
  CHECK(whole < 2'000'000'000);
}

TEST_CASE("what is left to the env and to the episodes is a number in the end") {
  const Catalog catalog = default_catalog();
  const RunPlan plan(given({"env.id=pendulum", "env.max_steps=30", "env.num_envs=64",
                            "rollout.steps=auto", "total_timesteps=0", "total_episodes=1000"}),
                     catalog);
  CHECK(plan.config().rollout.steps == 30);
  CHECK(plan.samples_per_update() == 1920);
  CHECK(plan.config().total_timesteps == 16 * 1920);  // the remainder is played whole
  CHECK(plan.max_updates() == 16);
  REQUIRE(plan.epochs());
  CHECK(plan.epochs()->whole == 15);
  CHECK(plan.epochs()->remainder == 40);
  CHECK(plan.epochs()->count() == 16);
}

TEST_CASE("a budget of updates grows with the envs, and gives way to episodes") {
  const Catalog catalog = default_catalog();
  const auto steps = [&](const char* envs, const char* episodes) {
    return RunPlan(given({"env.id=pendulum", "env.max_steps=30", "rollout.steps=auto",
                          "total_timesteps=0", "total_updates=100", envs, episodes}),
                   catalog)
        .config()
        .total_timesteps;
  };
  CHECK(steps("env.num_envs=64", "total_episodes=0") == 100 * 64 * 30);
  CHECK(steps("env.num_envs=256", "total_episodes=0") == 100 * 256 * 30);
  CHECK(steps("env.num_envs=64", "total_episodes=128") == 2 * 64 * 30);
}

TEST_CASE("envs that grew without their episodes are warned of, with the number to use") {
  const Catalog catalog = default_catalog();
  const auto warnings = [&](const char* envs) {
    return RunPlan(given({"env.id=pendulum", "env.max_steps=30", "rollout.steps=auto",
                          "total_timesteps=0", "total_episodes=1000", envs}),
                   catalog)
        .warnings();
  };
  CHECK(warnings("env.num_envs=64").empty());
  const auto few = warnings("env.num_envs=256");
  REQUIRE(few.size() == 1);
  CHECK(few[0].find("3 whole epochs") != std::string::npos);
  CHECK(few[0].find("--episodes 3840") != std::string::npos);
}

TEST_CASE("auto asks for an env whose episodes end") {
  const Catalog catalog = default_catalog();
  CHECK_THROWS_WITH_AS(RunPlan(given({"env.id=bandit", "rollout.steps=auto"}), catalog),
                       doctest::Contains("rollout.steps"), ConfigError);
}

TEST_CASE("workers and envs of each are a number of envs") {
  const Catalog catalog = default_catalog();
  const auto plan = [&](std::initializer_list<std::string> assignments) {
    return std::make_unique<RunPlan>(given(assignments), catalog);
  };
  const auto value = [](const RunPlan& of, const std::string& path) {
    return value_text(*std::ranges::find(of.fields(), path, &Field::path));
  };
  const auto python = plan({"env.id=CartPole-v1", "workers=2", "env.envs_per_worker=4"});
  CHECK(python->config().env.num_envs == 8);
  CHECK(value(*python, "env.num_workers") == "2");
  CHECK(value(*python, "env.envs_per_worker") == "0");  // so that a resume may change the workers
  const auto native = plan({"env.id=cartpole", "workers=2", "env.envs_per_worker=4"});
  CHECK(native->config().env.num_envs == 8);
  CHECK(native->config().threads == 2);
  CHECK(plan({"env.num_envs=8", "workers=2", "env.envs_per_worker=4"})->config().env.num_envs == 8);
  CHECK_THROWS_WITH_AS(plan({"env.num_envs=64", "workers=2", "env.envs_per_worker=4"}),
                       doctest::Contains("2 workers (--set) of 4 envs each (--set) are 8 envs, but "
                                         "env.num_envs is 64"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(plan({"env.id=cartpole", "env.envs_per_worker=4"}),
                       doctest::Contains("a native env has no workers"), ConfigError);
  // Alone, each says how many workers the envs need.
  const auto alone = plan({"env.id=CartPole-v1", "env.num_envs=12", "env.envs_per_worker=4"});
  CHECK(alone->config().env.num_envs == 12);
  CHECK(value(*alone, "env.envs_per_worker") == "4");
  CHECK_THROWS_WITH_AS(plan({"env.id=CartPole-v1", "env.envs_per_worker=x"}),
                       doctest::Contains("env.envs_per_worker"), ConfigError);
}

TEST_CASE("a recipe's number of envs gives way to workers and envs of each") {
  const Catalog catalog = default_catalog();
  Settings settings;
  settings.add_toml("[env]\nid = \"CartPole-v1\"\nnum_envs = 64\nnum_workers = 1\n", "a.toml");
  settings.add("workers", "2", "--num-workers");
  Settings with_each = settings;
  with_each.add("env.envs_per_worker", "4", "--num-envs-per-worker");
  CHECK(RunPlan(settings, catalog).config().env.num_envs == 64);
  CHECK(RunPlan(with_each, catalog).config().env.num_envs == 8);
}

TEST_CASE("other libraries' names of keys are answered with ours") {
  const Catalog catalog = default_catalog();
  const auto says = [&](const char* assignment, const char* ours) {
    CHECK_THROWS_WITH_AS(RunPlan(given({assignment}), catalog), doctest::Contains(ours),
                         ConfigError);
  };
  says("n_steps=128", "rollout.steps");
  says("ppo.ent_coef=0.01", "ppo.entropy_weight");
  says("n_epochs=10", "ppo.policy_epochs (and value_epochs)");
  says("clip_range=0.2", "ppo.clip");
  says("ppo.vf_coef=0.5", "ppo.value_weight");
  says("gamma=0.9", "ppo.gamma");
  says("net_arch=64", "net.hidden");
  says("ppo.n_envs=8", "env.num_envs");
  CHECK(RunPlan(given({"minibatch=128"}), catalog).algorithm().minibatch(1024) == 128);
}

TEST_CASE("episodes and time bound a run, and nothing is promised that they may cut short") {
  const Catalog catalog = default_catalog();
  const RunPlan booking(given({"env.id=dvrptw", "total_episodes=256"}), catalog);
  CHECK(booking.config().total_timesteps == 4 * 30 * 64);  // four days of 30 requests in 64 envs
  CHECK(booking.max_updates() == 2);                       // of 64 steps each
  const RunPlan poles(given({"total_episodes=200"}), catalog);
  CHECK(poles.config().total_timesteps == 4 * 500 * 64);
  CHECK(!poles.knows_updates());
  CHECK(poles.updates_text() == "at most 32 updates");
  REQUIRE(!poles.warnings().empty());
  CHECK(poles.warnings()[0].find("only 3 of each env") != std::string::npos);
  const RunPlan timed(given({"total_seconds=90"}), catalog);
  CHECK(timed.config().total_timesteps == 1'000'000'000'000'000);
  CHECK(timed.updates_text() == "updates for 90 s");
  CHECK(RunPlan(given({"total_seconds=90", "total_timesteps=4096"}), catalog).updates_text() ==
        "at most 1 updates for 90 s");
  CHECK(RunPlan(given({"total_timesteps=8192"}), catalog).updates_text() == "2 updates");
}
