#include <ATen/Parallel.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/nn/policy.h"
#include "penstock/core/rollout/fragment.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run.h"
#include "penstock/core/train/trained_run.h"

using namespace penstock;

// What a run says of itself: its memory, its files, its steps, its listeners.

namespace {

namespace fs = std::filesystem;

struct RunFolder : TemporaryFolder {
  [[nodiscard]] std::string run() const { return *this / "run"; }
};

const Catalog& shipped() {
  static const Catalog kCatalog = default_catalog();
  return kCatalog;
}

std::shared_ptr<const RunPlan> planned(std::initializer_list<std::string> assignments,
                                       const std::string& dir = "") {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 1024\nthreads = 1\n[env]\nid = \"identity\"\nnum_envs = 8\n[rollout]\n"
      "steps = 16\n[net]\nhidden = [8]\n[run]\neval_episodes = 0\nsave_every_s = 0.0\n",
      "test");
  if (!dir.empty()) { settings.add("run.dir", dir, "test"); }
  for (const std::string& assignment : assignments) {
    settings.add_assignment(assignment, "--set");
  }
  return std::make_shared<RunPlan>(settings, shipped());
}

std::vector<Json> lines_of(const std::string& dir) {
  std::ifstream file(dir + "/metrics.jsonl");
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) { lines.push_back(parse_json(line)); }
  return lines;
}

std::vector<std::int64_t> checkpoints_of(const std::string& dir) {
  std::vector<std::int64_t> steps;
  for (const auto& entry : fs::directory_iterator(dir + "/ckpt")) {
    if (entry.is_directory()) { steps.push_back(std::stoll(entry.path().filename())); }
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

const std::atomic<bool> kUnstopped{false};
void ignore(const std::string& /*text*/) {}

}  // namespace

TEST_CASE("the estimate of the rollout is what its buffers take, and a row more") {
  for (const char* env : {"env.id=cartpole", "env.id=masked", "env.id=multi", "env.id=pendulum"}) {
    for (const char* interval : {"ppo.update_interval=1", "ppo.update_interval=3"}) {
      CAPTURE(env);
      const auto plan = planned({env, interval});
      const std::int64_t steps = plan->horizon();
      const std::int64_t envs = plan->config().env.num_envs;
      const Fragment buffer(plan->env().spec(), steps, envs);
      std::int64_t real = 2 * steps * envs * 4;  // a learner's advantages and targets
      for (const auto& [name, tensor] : buffer.tensors()) {
        real += static_cast<std::int64_t>(tensor.nbytes());
      }
      const std::int64_t estimate = plan->memory().rollout;
      CHECK(estimate >= real);
      CHECK(static_cast<double>(estimate) <= static_cast<double>(real) *
                                                 static_cast<double>(steps + 1) /
                                                 static_cast<double>(steps));
    }
  }
}

TEST_CASE("the estimate of weights is what policy and gradients take, but for their alignment") {
  for (const char* hidden : {"net.hidden=[64, 64]", "net.hidden=[7]", "net.hidden=[256]"}) {
    CAPTURE(hidden);
    const auto plan = planned({"env.id=acrobot", "rollout.shards=4", hidden});
    const Policy policy = make_policy(*plan, plan->env().spec(), 4);
    auto real = static_cast<std::int64_t>(policy.weights().nbytes());
    for (std::size_t s = 0; s < 4; ++s) {
      real += static_cast<std::int64_t>(policy.gradient(s).nbytes());
    }
    const MemoryEstimate memory = plan->memory();
    const auto alignment = static_cast<std::int64_t>(policy.slots().size()) * 15 * 4 * 5;
    CHECK(memory.weights <= real);
    CHECK(real <= memory.weights + alignment);
    CHECK(memory.optimiser == 2 * memory.weights / 5);  // two moments of one copy
  }
}

TEST_CASE("an estimate's parts are its total, and each key moves the part that it names") {
  const auto base = planned({})->memory();
  CHECK(base.total() == base.rollout + base.weights + base.optimiser + base.batches);
  const auto envs = planned({"env.num_envs=16", "ppo.minibatch=64"})->memory();
  CHECK(envs.rollout == 2 * base.rollout);
  CHECK(envs.weights == base.weights);
  const auto steps = planned({"rollout.steps=33"})->memory();
  CHECK(steps.rollout == 2 * base.rollout);  // 34 rows instead of 17
  const auto wide = planned({"net.hidden=[800]"})->memory();
  CHECK(wide.rollout == base.rollout);
  CHECK(wide.weights > 50 * base.weights);
  CHECK(wide.batches > base.batches);
}

TEST_CASE("a budget that is not whole updates is rounded up, and the run tells what it did") {
  const RunFolder folder;
  const auto plan = planned({"total_timesteps=300"}, folder.run());
  CHECK(plan->max_updates() == 3);
  const Summary summary = Run::fresh(plan, {})->run(kUnstopped);
  CHECK(summary.updates == 3);
  CHECK(summary.total_timesteps == 3 * 128);
  CHECK(!summary.preempted);
  CHECK(summary.eval.episodes == 0);
  const Json line = parse_json(summary.line());
  CHECK(line["updates"] == 3);
  CHECK(line["digest"] == summary.digest);
  CHECK(!line.contains("eval"));
  const auto lines = lines_of(folder.run());
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lines[i]["step"] == 128 * (i + 1));
    CHECK(lines[i]["train/n_updates"] == i + 1);
  }
}

TEST_CASE("checkpoints keep their interval, the newest are kept, and the last is the end") {
  const RunFolder folder;
  Run::fresh(planned({"run.save_interval=256", "run.keep=2"}, folder.run()), {})->run(kUnstopped);
  const auto steps = checkpoints_of(folder.run());
  REQUIRE(steps.size() >= 2);
  CHECK(steps.size() <= 3);  // two, and perhaps the best
  CHECK(steps.back() == 1024);
  const auto before = steps[steps.size() - 2];  // a slow disk makes it an earlier one
  CHECK((before == 0 || before >= 256));
  CHECK(before % 128 == 0);
}

TEST_CASE("lines come every so many updates, and watchers hear of the same numbers") {
  const RunFolder folder;
  RunListener listener;
  std::vector<std::int64_t> logged;
  std::int64_t last = 0;
  bool grows = true;
  listener.logged = [&](const Progress& p, const Metrics& metrics) {
    logged.push_back(p.timesteps);
    CHECK(!metrics.empty());
    CHECK(p.total_timesteps == 1024);
  };
  listener.progress = [&](const Progress& p) {
    grows = grows && p.timesteps >= last;
    last = p.timesteps;
  };
  Run::fresh(planned({"run.log_interval=3"}, folder.run()), {.listener = listener})
      ->run(kUnstopped);
  CHECK(logged == std::vector<std::int64_t>{3 * 128, 6 * 128});
  CHECK(grows);
  CHECK(last == 1024);
  CHECK(lines_of(folder.run()).size() == 2);
}

TEST_CASE("evaluations come at their interval and once more at the end") {
  const RunFolder folder;
  const Summary summary =
      Run::fresh(planned({"run.eval_interval=384", "run.eval_episodes=3", "run.log_interval=100"},
                         folder.run()),
                 {})
          ->run(kUnstopped);
  CHECK(summary.eval.episodes == 3);
  const auto lines = lines_of(folder.run());
  std::vector<std::int64_t> steps;
  for (const Json& line : lines) {
    CHECK(line.contains("eval/mean_reward"));
    steps.push_back(line["step"]);
  }
  REQUIRE(steps.size() >= 3);
  CHECK(steps.back() == 1024);
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) { CHECK(steps[i] - steps[i - 1] == 384); }
}

TEST_CASE("a run that is stopped before it began has begun, and goes on to the same end") {
  const RunFolder folder;
  const std::string whole = Run::fresh(planned({}, folder / "whole"), {})->run(kUnstopped).digest;
  const std::atomic<bool> stopped{true};
  {
    const auto run = Run::fresh(planned({}, folder.run()), {});
    const Summary summary = run->run(stopped);
    CHECK(summary.preempted);
    CHECK(summary.total_timesteps == 0);
  }
  CHECK(checkpoints_of(folder.run()) == std::vector<std::int64_t>{0});
  const auto plan =
      std::make_shared<RunPlan>(recorded_settings(folder.run(), {}, ignore), shipped());
  CHECK(Run::resume(folder.run(), plan, {})->run(kUnstopped).digest == whole);
}

TEST_CASE("a finished run with a larger budget is the longer run, to the bit") {
  const RunFolder folder;
  const std::initializer_list<std::string> constant = {"ppo.learning_rate_schedule=constant"};
  Run::fresh(planned(constant, folder.run()), {})->run(kUnstopped);
  Settings longer = recorded_settings(folder.run(), {}, ignore);
  longer.add("total_timesteps", "2048", "test");
  const auto plan = std::make_shared<RunPlan>(longer, shipped());
  const Summary resumed = Run::resume(folder.run(), plan, {})->run(kUnstopped);
  CHECK(resumed.total_timesteps == 2048);
  const auto at_once =
      planned({"ppo.learning_rate_schedule=constant", "total_timesteps=2048"}, folder / "at_once");
  CHECK(Run::fresh(at_once, {})->run(kUnstopped).digest == resumed.digest);
  // The directory says what was last asked of it, and each line stands there once.
  CHECK(recorded_settings(folder.run(), {}, ignore).find("total_timesteps")->text == "2048");
  CHECK(lines_of(folder.run()).size() == 16);
}

TEST_CASE("a directory has one run at a time") {
  const RunFolder folder;
  const auto run = Run::fresh(planned({}, folder.run()), {});
  CHECK_THROWS_AS(Run::fresh(planned({}, folder.run()), {}), IoError);
  CHECK_THROWS_AS(Run::resume(folder.run(), planned({}, folder.run()), {}), IoError);
  // Looking is allowed, and finds the untrained policy.
  CHECK(open_run({.dir = folder.run()}, shipped(), ignore).timesteps == 0);
  CHECK(run->run(kUnstopped).updates == 8);
}

TEST_CASE("a plan that cannot be run leaves no directory behind") {
  const RunFolder folder;
  CHECK_THROWS_AS(Run::fresh(planned({"device=cuda"}, folder.run()), {}), ConfigError);
  CHECK_THROWS_AS(
      Run::fresh(planned({"env.num_envs=65536", "rollout.steps=1048576"}, folder.run()), {}),
      ConfigError);
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("libtorch's threads are the caller's again after a run") {
  const RunFolder folder;
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  Run::fresh(planned({"total_timesteps=128"}, folder.run()), {})->run(kUnstopped);
  CHECK(at::get_num_threads() == 3);
  at::set_num_threads(before);
}

TEST_CASE("a run's instruction set is kept where it is, and its lack is told") {
  const RunFolder folder;
  Run::fresh(planned({"total_timesteps=128"}, folder.run()), {})->run(kUnstopped);
  const auto with_manifest = [&](const std::string& text, std::string* note) {
    std::ofstream(folder.run() + "/manifest.json") << text;
    return recorded_settings(folder.run(), {}, [&](const std::string& said) { *note += said; });
  };
  std::string note;
  CHECK(with_manifest(R"({"isa": "generic"})", &note).find("isa")->text == "generic");
  CHECK(note.empty());
  CHECK(with_manifest("{", &note).find("isa")->text == "auto");  // broken: as if it were not there
  CHECK(note.find("manifest.json") != std::string::npos);
  note.clear();
  const Settings other = with_manifest(R"({"isa": "abacus"})", &note);
  CHECK(note.find("abacus") != std::string::npos);
  CHECK(other.find("isa")->origin.starts_with("config.toml"));
}

TEST_CASE("a checkpoint is chosen by word or step, and others are refused with the words") {
  const RunFolder folder;
  Run::fresh(planned({"run.save_interval=512", "run.keep=9"}, folder.run()), {})->run(kUnstopped);
  const auto opened = [&](const std::string& which) {
    return open_run({.dir = folder.run(), .checkpoint = which}, shipped(), ignore);
  };
  CHECK(opened("latest").timesteps == 1024);
  const auto steps = checkpoints_of(folder.run());
  REQUIRE(steps.size() == 3);  // the start, one on the way (later on a slow disk), the end
  CHECK(opened(std::to_string(steps[1])).timesteps == steps[1]);
  CHECK(opened(std::to_string(steps[1])).player.model->version() == steps[1] / 128);
  CHECK(opened("0").player.model->version() == 0);
  CHECK_THROWS_WITH_AS(opened("newest"), doctest::Contains("latest, best or a step"), UsageError);
  CHECK_THROWS_AS(opened("512 "), UsageError);
  CHECK_THROWS_AS(opened("513"), DataError);
}

TEST_CASE("no checkpoint is the best before an episode has ended") {
  const RunFolder folder;
  const std::atomic<bool> stopped{true};
  Run::fresh(planned({}, folder.run()), {})->run(stopped);
  CHECK_THROWS_WITH_AS(open_run({.dir = folder.run(), .checkpoint = "best"}, shipped(), ignore),
                       doctest::Contains("--checkpoint latest"), DataError);
}

TEST_CASE("evaluation is the mean, deviation and interval of the episodes it played") {
  const auto plan = planned({"env.id=pendulum"});
  Engine engine(*plan);
  const EvalOptions options{.episodes = 12, .seed = 5};
  const auto ends = play_episodes(engine.player(), plan->env(), engine.pool(), options);
  const EvalResult result = evaluate(engine.player(), plan->env(), engine.pool(), options);
  double mean = 0;
  for (const EpisodeEnd& end : ends) { mean += end.total_reward / 12; }
  double squares = 0;
  for (const EpisodeEnd& end : ends) { squares += std::pow(end.total_reward - mean, 2); }
  const double deviation = std::sqrt(squares / 11);
  CHECK(result.episodes == 12);
  CHECK(result.mean_reward == doctest::Approx(mean));
  CHECK(result.std_reward == doctest::Approx(deviation));
  CHECK(result.ci95_low == doctest::Approx(mean - 1.96 * deviation / std::sqrt(12)).epsilon(1e-4));
  CHECK(result.ci95_high == doctest::Approx(mean + 1.96 * deviation / std::sqrt(12)).epsilon(1e-4));
  CHECK(result.mean_ep_length == 200);
  CHECK(std::isnan(result.success_rate));  // a pendulum has no notion of it
  // The first episodes do not depend on how many follow, and others have another seed.
  const auto few =
      play_episodes(engine.player(), plan->env(), engine.pool(), {.episodes = 3, .seed = 5});
  for (std::size_t i = 0; i < 3; ++i) { CHECK(few[i].total_reward == ends[i].total_reward); }
  const EvalResult one =
      evaluate(engine.player(), plan->env(), engine.pool(), {.episodes = 1, .seed = 6});
  CHECK(one.std_reward == 0);
  CHECK(one.mean_reward != ends[0].total_reward);
}
