#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/trainer.h"

using namespace penstock;

namespace {

const std::atomic<bool> kNoStop{false};

/// Normalised, in uneven shards: all that a checkpoint must hold.
Settings lagged(const std::string& env, const std::string& algo, int lag = 0) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 2000\nthreads = 2\n[rollout]\nsteps = 16\nshards = 3\n"
      "[normalise]\nobs = true\nreward = true\n[run]\neval_episodes = 2\nsave_every_s = 0.0\n"
      "[env]\nnum_envs = 13\n",
      "test");
  settings.add("env.id", env, "test");
  settings.add("algo", algo, "test");
  if (algo == "ppo" || algo == "appo") { settings.add("ppo.minibatch", "100", "test"); }
  if (algo == "appo" || algo == "impala") {
    settings.add("async.max_lag", std::to_string(lag), "test");
  }
  return settings;
}

/// What was logged of each update, without what depends on time.
std::vector<Json> untimed_lines(const std::string& path) {
  std::vector<Json> lines;
  const std::string text = read_text(path + "/metrics.jsonl");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const Json line = parse_json(text.substr(begin, end - begin));
    Json kept;
    for (const auto& [name, value] : line.items()) {
      const bool timed = name.starts_with("perf/") || name.starts_with("time/");
      if (!timed) { kept[name] = value; }
    }
    lines.push_back(kept);
    begin = end + 1;
  }
  return lines;
}

Summary train_in(const Settings& settings, const std::string& path,
                 const std::atomic<bool>& stop = kNoStop, RunListener listener = {}) {
  const RunPlan plan(settings, default_catalog());
  const bool resumed = std::filesystem::exists(path);
  RunDir dir(path, resumed ? RunDir::Open::resume : RunDir::Open::fresh);
  if (!resumed) { dir.write("config.toml", to_toml(plan.fields())); }
  Trainer trainer(plan, dir, std::move(listener));
  if (resumed) { trainer.resume(); }
  return trainer.run(stop);
}

std::string digest_of(const Settings& settings) {
  const TemporaryFolder folder;
  return train_in(settings, folder / "run").digest;
}

/// Stopped three times in mid-rollout, a run has the bits and the lines of one that was not.
void check_resumed(const Settings& settings) {
  const TemporaryFolder whole;
  const Summary expected = train_in(settings, whole / "run");
  CHECK(expected.updates == 10);  // all that was sampled is learnt from

  const TemporaryFolder broken;
  for (const std::int64_t until : {200, 1000, 1500}) {
    std::atomic<bool> stop{false};
    RunListener stopper;
    stopper.progress = [&](const Progress& p) { stop = stop || p.timesteps >= until; };
    CHECK(train_in(settings, broken / "run", stop, stopper).preempted);
  }
  const Summary rest = train_in(settings, broken / "run");
  CHECK(rest.digest == expected.digest);
  CHECK(rest.updates == expected.updates);
  CHECK(rest.episodes == expected.episodes);
  CHECK(rest.eval.mean_reward == expected.eval.mean_reward);
  CHECK((untimed_lines(broken / "run") == untimed_lines(whole / "run")));
}

/// What the log says of each update.
std::vector<double> logged_lags(const Settings& settings) {
  const TemporaryFolder folder;
  train_in(settings, folder / "run");
  std::vector<double> lags;
  for (const Json& line : untimed_lines(folder / "run")) {
    if (line.contains("async/lag")) { lags.push_back(line.at("async/lag")); }
  }
  return lags;
}

}  // namespace

TEST_CASE("without a lag APPO is PPO and IMPALA is A2C, bit for bit, on every env") {
  for (const EnvEntry& entry : default_catalog().envs) {
    INFO(entry.name);
    CHECK(digest_of(lagged(entry.name, "appo", 0)) == digest_of(lagged(entry.name, "ppo")));
  }
  CHECK(digest_of(lagged("cartpole", "impala", 0)) == digest_of(lagged("cartpole", "a2c")));
}

TEST_CASE("a lag has bits of its own, whatever the threads") {
  const std::string turns = digest_of(lagged("cartpole", "appo", 0));
  for (const char* algo : {"appo", "impala"}) {
    for (const int lag : {1, 3}) {
      INFO(algo << " " << lag);
      const std::string beside = digest_of(lagged("cartpole", algo, lag));
      CHECK(beside != turns);
      for (const char* threads : {"threads=1", "threads=3", "async.sampler_threads=1"}) {
        Settings settings = lagged("cartpole", algo, lag);
        settings.add_assignment(threads, "test");
        CHECK(digest_of(settings) == beside);
      }
    }
  }
}

TEST_CASE("with a lag, every env stops in mid-rollout and resumes to the same bits and lines") {
  for (const EnvEntry& entry : default_catalog().envs) {
    INFO(entry.name);
    check_resumed(lagged(entry.name, "appo", 2));
  }
}

TEST_CASE("so does a sampler that takes up new weights every third update only") {
  for (const int lag : {0, 1, 2}) {
    INFO(lag);
    Settings settings = lagged("cartpole", "appo", lag);
    settings.add_assignment("async.sync_every=3", "test");
    CHECK(digest_of(settings) != digest_of(lagged("cartpole", "appo", lag)));
    check_resumed(settings);
  }
}

TEST_CASE("a rollout is learnt by a policy that is max_lag updates ahead, less at the beginning") {
  Settings settings = lagged("cartpole", "appo", 2);
  CHECK(logged_lags(settings) == std::vector<double>{0, 1, 2, 2, 2, 2, 2, 2, 2, 2});
  settings.add_assignment("async.sync_every=3", "test");  // versions 0, 3 and 6 are acted by
  CHECK(logged_lags(settings) == std::vector<double>{0, 1, 2, 3, 4, 2, 3, 4, 2, 3});
}

TEST_CASE("weights that are set count from the next rollout on, whatever is behind") {
  const RunPlan plan(lagged("cartpole", "appo", 2), default_catalog());
  Engine engine(plan);
  for (int i = 0; i < 3; ++i) {
    engine.sample(engine.steps_left());
    engine.update();
  }
  CHECK(engine.num_behind() == 2);
  CHECK(engine.num_updates() == 1);
  std::map<std::string, at::Tensor> none;
  engine.set_weights(none);
  CHECK(engine.num_behind() == 0);
  CHECK(engine.num_updates() == 3);
  CHECK(engine.model()->version() == 3);
}

TEST_CASE("keys of a lag belong to the algorithms that have one") {
  Settings settings = lagged("cartpole", "ppo");
  settings.add_assignment("async.max_lag=1", "test");
  CHECK_THROWS_WITH_AS(RunPlan(settings, default_catalog()), doctest::Contains("--algo appo"),
                       ConfigError);
}
