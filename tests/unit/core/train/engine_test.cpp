#include "penstock/core/train/engine.h"

#include <doctest/doctest.h>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/trainer.h"

using namespace penstock;

namespace {

Settings small(const std::string& env, const std::string& more = "") {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 2000\nthreads = 2\n[rollout]\nsteps = 16\nshards = 3\n"
      "[normalise]\nobs = true\nreward = true\n[run]\neval_episodes = 2\nsave_every_s = 0.0\n"
      "[ppo]\nminibatch = 100\n[env]\nnum_envs = 13\nid = \"" +
          env + "\"\n" + more,
      "test");
  return settings;
}

const std::atomic<bool> kNever{false};

Summary run(const RunPlan& plan, const std::string& path, RunDir::Open mode,
            const std::atomic<bool>& stop, RunListener listener = {}) {
  RunDir dir(path, mode);
  if (mode == RunDir::Open::fresh) { dir.write("config.toml", to_toml(plan.fields())); }
  Trainer trainer(plan, dir, std::move(listener));
  if (mode == RunDir::Open::resume) { trainer.resume(); }
  return trainer.run(stop);
}

}  // namespace

TEST_CASE("every env of the catalog trains, stops in mid-rollout and resumes to the same bits") {
  const Catalog catalog = default_catalog();
  for (const EnvEntry& entry : catalog.envs) {
    INFO(entry.name);
    const RunPlan plan(small(entry.name), catalog);
    const TemporaryFolder whole;
    const Summary expected = run(plan, whole / "run", RunDir::Open::fresh, kNever);
    CHECK(!expected.preempted);

    const TemporaryFolder broken;
    std::atomic<bool> stop{false};
    RunListener stopper;
    stopper.progress = [&](const Progress& p) { stop = stop || p.timesteps >= 1000; };
    const Summary half = run(plan, broken / "run", RunDir::Open::fresh, stop, stopper);
    CHECK(half.preempted);
    CHECK(half.total_timesteps < expected.total_timesteps);
    const Summary rest = run(plan, broken / "run", RunDir::Open::resume, kNever);
    CHECK(rest.digest == expected.digest);
    CHECK(rest.episodes == expected.episodes);
    CHECK(rest.eval.mean_reward == expected.eval.mean_reward);
  }
}

TEST_CASE("threads do not change the digest, the seed does") {
  const Catalog catalog = default_catalog();
  const auto digest = [&](const std::string& assignment) {
    Settings settings = small("cartpole");
    settings.add_assignment(assignment, "test");
    const TemporaryFolder dir;
    return run(RunPlan(settings, catalog), dir / "run", RunDir::Open::fresh, kNever).digest;
  };
  const std::string one = digest("threads=1");
  CHECK(digest("threads=2") == one);
  CHECK(digest("threads=4") == one);
  CHECK(digest("seed=2") != one);
}

TEST_CASE("a checkpoint of another shape is refused, not bent") {
  const Catalog catalog = default_catalog();
  const TemporaryFolder dir;
  run(RunPlan(small("cartpole"), catalog), dir / "run", RunDir::Open::fresh, kNever);
  for (const char* change : {"env.num_envs=14", "net.hidden=[32]", "normalise.obs=false"}) {
    Settings settings = small("cartpole");
    settings.add_assignment(change, "test");
    const RunPlan plan(settings, catalog);
    CHECK_THROWS_AS(run(plan, dir / "run", RunDir::Open::resume, kNever), DataError);
  }
}

TEST_CASE("the update interval gathers several rollouts into one update") {
  const Catalog catalog = default_catalog();
  Settings settings = small("cartpole");
  settings.add_assignment("ppo.update_interval=3", "test");
  const RunPlan plan(settings, catalog);
  Engine engine(plan);
  CHECK(!engine.sample(32));
  CHECK(engine.sample(16));
  engine.update();
  CHECK(engine.num_updates() == 1);
  CHECK(engine.timesteps() == 13 * 48);
}

TEST_CASE("a device that is not there is refused with the remedy") {
  CHECK_THROWS_WITH_AS(device_of("cuda"), doctest::Contains("--device cpu"), ConfigError);
  CHECK_THROWS_WITH_AS(device_of("mps"), doctest::Contains("--device cpu"), ConfigError);
}
