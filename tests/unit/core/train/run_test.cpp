#include "penstock/core/train/run.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/env/batched_env.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/trained_run.h"

using namespace penstock;

namespace {

namespace fs = std::filesystem;

/// Walks on a line and throws once it has made `fail_after` steps in all; 0: never. The count is
/// not part of the state: a resumed run does not meet the same accident.
struct Accident {
  struct Config {
    std::int64_t fail_after = 0;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("fail_after", fail_after, "steps until it throws; 0: never", Range{0, 1e9});
    }
  };
  explicit Accident(const Config& c) : config(c) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{2}, 20}; }
  void reset(std::uint64_t seed, Row row) {
    x = static_cast<double>(seed % 7) / 7;
    row.obs[0] = static_cast<float>(x);
  }
  Outcome step(std::int64_t action, Row row) {
    x += action == 1 ? 0.1 : -0.1;
    row.obs[0] = static_cast<float>(x);
    if (++steps == config.fail_after) { throw std::runtime_error("the pump broke"); }
    return {.reward = static_cast<float>(x)};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(x);
  }
  Config config;
  double x = 0;
  std::int64_t steps = 0;
};

/// Pays for an action that is not the last one, more in every episode: chance earns more and more,
/// the most likely action, as evaluation takes it, nothing.
struct Alternating {
  struct Config {
    template <class Visitor>
    void fields(Visitor&) {}
  };
  explicit Alternating(const Config&) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{2}, 20}; }
  void reset(std::uint64_t, Row row) {
    row.obs[0] = 0;
    last = -1;
    ++episode;
  }
  Outcome step(std::int64_t action, Row row) {
    row.obs[0] = 0;
    const bool other = last >= 0 && action != last;
    last = action;
    return {.reward = other ? static_cast<float>(episode) : 0.0F};
  }
  template <class Archive>
  void state(Archive& archive) {
    archive(last, episode);
  }
  std::int64_t last = -1;
  std::int64_t episode = 0;
};

/// Episodes that never end, and know of no limit.
struct Endless {
  struct Config {
    template <class Visitor>
    void fields(Visitor&) {}
  };
  explicit Endless(const Config&) {}
  [[nodiscard]] EnvSpec spec() const { return {Layout(1), Discrete{2}}; }
  void reset(std::uint64_t, Row row) { row.obs[0] = 0; }
  Outcome step(std::int64_t, Row row) {
    row.obs[0] = 0;
    return {.reward = 0.5F};
  }
  template <class Archive>
  void state(Archive&) {}
};

Catalog catalog() {
  Catalog catalog = default_catalog();
  catalog.envs.push_back(env_entry<Endless>("endless", "never ends"));
  catalog.envs.push_back(env_entry<Alternating>("alternating", "pays for chance"));
  catalog.envs.push_back(env_entry<Accident>("accident", "breaks"));
  return catalog;
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("penstock-run-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

Settings settings_of(const fs::path& dir, std::int64_t fail_after) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 4096\nthreads = 2\n[env]\nid = \"accident\"\nnum_envs = 8\n[rollout]\n"
      "steps = 32\n[run]\neval_episodes = 0\n",
      "test");
  settings.add("run.dir", dir.string(), "test");
  settings.add("env.fail_after", std::to_string(fail_after), "test");
  return settings;
}

std::shared_ptr<const RunPlan> plan_of(const Settings& settings) {
  return std::make_shared<RunPlan>(settings, catalog());
}

const std::atomic<bool> kGoOn{false};

}  // namespace

TEST_CASE("a run that an env breaks is saved, says where, and goes on to the same bits") {
  const Folder folder;
  const std::string unbroken =
      Run::fresh(plan_of(settings_of(folder.path / "whole", 0)), {})->run(kGoOn).digest;

  {
    const auto run = Run::fresh(plan_of(settings_of(folder.path / "broken", 150)), {});
    CHECK_THROWS_WITH_AS(run->run(kGoOn), doctest::Contains("episode seed"), Error);
  }
  std::ifstream latest(folder.path / "broken" / "ckpt" / "LATEST");
  std::int64_t step = 0;
  latest >> step;
  CHECK(step >= 8 * 32);  // not the first moment's

  Settings recorded =
      recorded_settings((folder.path / "broken").string(), {}, [](const std::string&) {});
  recorded.add("env.fail_after", "0", "test");
  const auto resumed = Run::resume((folder.path / "broken").string(), plan_of(recorded), {});
  CHECK(resumed->run(kGoOn).digest == unbroken);
}

TEST_CASE("with evaluations, a run that was stopped and resumed has the same best checkpoint") {
  const Folder folder;
  const auto settings = [&](const char* name) {
    Settings all;
    all.add_toml(
        "total_timesteps = 4096\nthreads = 2\n[env]\nid = \"alternating\"\nnum_envs = "
        "8\n[rollout]\n"
        "steps = 32\n[run]\neval_episodes = 4\neval_interval = 512\nsave_interval = 1\n"
        "save_unit = \"updates\"\n",
        "test");
    all.add("run.dir", (folder.path / name).string(), "test");
    return all;
  };
  const auto best_of = [&](const char* name) {
    std::ifstream file(folder.path / name / "ckpt" / "BEST");
    std::int64_t step = -1;
    file >> step;
    return step;
  };
  Run::fresh(plan_of(settings("whole")), {})->run(kGoOn);
  CHECK(best_of("whole") == 8 * 32);  // before the first evaluation, which finds nothing

  std::atomic<bool> stop{false};
  RunListener listener;  // stops at each update
  listener.logged = [&](const Progress&, const Metrics&) { stop = true; };
  Run::fresh(plan_of(settings("parts")), {.listener = listener})->run(stop);
  const std::string dir = (folder.path / "parts").string();
  for (bool preempted = true; preempted;) {
    stop = false;
    const auto plan = plan_of(recorded_settings(dir, {}, [](const std::string&) {}));
    preempted = Run::resume(dir, plan, {.listener = listener})->run(stop).preempted;
  }
  CHECK(best_of("parts") == best_of("whole"));
}

TEST_CASE("what a listener throws leaves the run after it was saved") {
  const Folder folder;
  RunListener listener;
  int lines = 0;
  listener.logged = [&](const Progress&, const Metrics&) {
    if (++lines == 3) { throw std::runtime_error("enough"); }
  };
  const fs::path dir = folder.path / "watched";
  {
    const auto run = Run::fresh(plan_of(settings_of(dir, 0)), {.listener = listener});
    CHECK_THROWS_WITH_AS(run->run(kGoOn), "enough", std::runtime_error);
  }
  const TrainedRun there = open_run({.dir = dir.string()}, catalog(), [](const std::string&) {});
  CHECK(there.timesteps == 3 * 8 * 32);
  CHECK(there.player.model->version() == 3);
}

TEST_CASE("a run that a library user began has what the command line resumes from") {
  const Folder folder;
  const fs::path dir = folder.path / "library";
  Run::fresh(plan_of(settings_of(dir, 0)), {.dependencies = {{"my_product", "7.1"}}})->run(kGoOn);
  std::ifstream file(dir / "manifest.json");
  std::stringstream manifest;
  manifest << file.rdbuf();
  CHECK(manifest.str().find("\"my_product\": \"7.1\"") != std::string::npos);
  CHECK(manifest.str().find("\"torch\"") != std::string::npos);
  const Settings recorded = recorded_settings(dir.string(), {}, [](const std::string&) {});
  CHECK(recorded.find("isa")->origin == "manifest.json");
  std::ofstream(dir / "manifest.json") << R"({"isa": 7})";
  CHECK_THROWS_WITH_AS(recorded_settings(dir, {}, [](const std::string&) {}),
                       doctest::Contains("manifest.json: isa is 7"), DataError);
  CHECK_THROWS_AS(Run::fresh(plan_of(settings_of(dir, 0)), {}), IoError);
}

TEST_CASE("an env whose episodes never end is trained, and not waited for") {
  const Folder folder;
  Settings settings = settings_of(folder.path, 0);
  Settings endless;
  for (const Setting& each : settings.all()) {
    if (each.path != "env.fail_after") { endless.append(each); }
  }
  endless.add("env.id", "endless", "test");
  endless.add("run.eval_episodes", "4", "test");
  std::string notes;
  RunListener listener;
  listener.note = [&](const std::string& text) { notes += text; };
  const auto plan = plan_of(endless);
  const Summary summary = Run::fresh(plan, {.listener = listener})->run(kGoOn);
  CHECK(summary.total_timesteps == 4096);
  CHECK(!summary.preempted);
  CHECK(summary.eval.episodes == 0);
  CHECK(notes.find("no episode has ended") != std::string::npos);

  Engine engine(*plan);
  const EvalResult cut =
      evaluate(engine.player(), plan->env(), engine.pool(), {.episodes = 3, .max_steps = 50});
  CHECK(cut.episodes == 3);
  CHECK(cut.cut_off == 3);
  CHECK(cut.mean_ep_length == 50);
  CHECK(cut.mean_reward == 25);
  const std::atomic<bool> stop{true};
  CHECK(evaluate(engine.player(), plan->env(), engine.pool(), {.episodes = 3, .stop = &stop})
            .episodes == 0);
}

TEST_CASE("time that was spent stays spent when a run is resumed") {
  const Folder folder;
  Settings settings = settings_of(folder.path, 0);
  settings.add("total_seconds", "1000", "test");
  CHECK(Run::fresh(plan_of(settings), {})->run(kGoOn).total_timesteps == 4096);
  const std::string dir = folder.path.string();
  Settings recorded = recorded_settings(dir, {}, [](const std::string&) {});
  recorded.add("total_timesteps", "8192", "test");
  recorded.add("total_seconds", "1e-6", "test");  // less than the first sitting took
  CHECK(Run::resume(dir, plan_of(recorded), {})->run(kGoOn).total_timesteps == 4096);
  recorded.add("total_seconds", "1000", "test");
  CHECK(Run::resume(dir, plan_of(recorded), {})->run(kGoOn).total_timesteps == 8192);
}

TEST_CASE("a schedule is over when the episodes are, however long they last") {
  const Folder folder;
  Settings settings = settings_of(folder.path, 0);
  settings.add("env.id", "cartpole", "test");
  settings.add("total_episodes", "40", "test");
  Settings poles;
  for (const Setting& each : settings.all()) {
    if (each.path != "env.fail_after") { poles.append(each); }
  }
  double rate = 0;
  RunListener listener;
  listener.logged = [&](const Progress& now, const Metrics& metrics) {
    for (const auto& [name, value] : metrics) {
      if (name == "train/learning_rate") { rate = value; }
    }
    CHECK(now.total_timesteps == 0);
  };
  const Summary summary = Run::fresh(plan_of(poles), {.listener = listener})->run(kGoOn);
  CHECK(summary.episodes >= 40);
  CHECK(summary.total_timesteps < 4096);  // so that steps alone would leave the rate near its start
  CHECK(rate < 0.5 * 1e-3);
}
