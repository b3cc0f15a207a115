#include "core/train/choose_lag.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <vector>

#include "penstock/app/catalog/catalog.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/run.h"

using namespace penstock;

// No test here says which lag is faster: that depends on the machine.

namespace {

const std::atomic<bool> kGoOn{false};

std::shared_ptr<const RunPlan> plan_at(const std::string& lag, const std::string& dir) {
  Settings settings;
  settings.add_toml(
      "total_timesteps = 1024\nalgo = \"appo\"\n[env]\nid = \"identity\"\nnum_envs = 8\n[rollout]\n"
      "steps = 16\n[net]\nhidden = [8]\n[run]\neval_episodes = 0\nsave_every_s = 0.0\n",
      "test");
  settings.add("async.max_lag", lag, "test");
  settings.add("run.dir", dir, "test");
  return std::make_shared<RunPlan>(settings, default_catalog());
}

Setting recorded_lag(const std::string& dir) {
  return *recorded_settings(dir, {}, [](const std::string&) {}).find("async.max_lag");
}

std::int64_t choice(const std::vector<double>& turns, const std::vector<double>& beside) {
  return penstock::detail::better_lag({{turns, beside}});
}

}  // namespace

TEST_CASE("a lag is chosen where it is clearly faster, by the median and in every turn") {
  CHECK(choice({1.06}, {1.0}) == 1);
  CHECK(choice({1.05}, {1.0}) == 1);
  CHECK(choice({1.04}, {1.0}) == 0);
  CHECK(choice({1.0}, {1.0}) == 0);
  CHECK(choice({0.8}, {1.0}) == 0);
  CHECK(choice({1.0, 9.0, 1.0}, {1.0, 1.0, 1.0}) == 0);  // one slow turn does not decide
  CHECK(choice({1.1, 1.2, 1.3}, {1.0, 1.05, 1.0}) == 1);
  CHECK(choice({1.1, 1.2, 1.04}, {1.0, 1.05, 1.0}) == 0);  // turns of both lags overlap: noise
}

TEST_CASE("auto is written down as a number, and the run is that of the number") {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  RunListener listener;
  listener.note = [&](const std::string& text) { notes.push_back(text); };
  const auto run = Run::fresh(plan_at("auto", folder / "auto"), {.listener = listener});

  const std::string lag = recorded_lag(folder / "auto").text;
  REQUIRE((lag == "0" || lag == "1"));
  CHECK(std::to_string(run->plan().algorithm().async().max_lag) == lag);
  CHECK(!run->plan().algorithm().leaves_lag_open());
  CHECK(run->plan().config().threads == 0);  // what was timed with all cores stays open
  REQUIRE(!notes.empty());
  CHECK(notes[0].starts_with("async.max_lag = " + lag + " (0: "));
  CHECK(notes[0].find(" samples/s, 1: ") != std::string::npos);

  const std::string digest = run->run(kGoOn).digest;
  CHECK(Run::fresh(plan_at(lag, folder / "given"), {})->run(kGoOn).digest == digest);
}

TEST_CASE("a resumed run keeps its lag, also where the plan says auto") {
  for (const char* lag : {"0", "1", "3"}) {
    INFO(lag);
    const TemporaryFolder folder;
    const std::string expected = Run::fresh(plan_at(lag, folder / "whole"), {})->run(kGoOn).digest;

    std::atomic<bool> stop{false};
    RunListener stopper;
    stopper.progress = [&](const Progress& now) { stop = now.timesteps >= 512; };
    const std::string dir = folder / "run";
    CHECK(Run::fresh(plan_at(lag, dir), {.listener = stopper})->run(stop).preempted);
    const auto run = Run::resume(dir, plan_at("auto", dir), {});
    CHECK(recorded_lag(dir).text == lag);
    CHECK(run->run(kGoOn).digest == expected);
  }
}

TEST_CASE("nothing is measured for a run that cannot begin") {
  const TemporaryFolder folder;
  Run::fresh(plan_at("1", folder / "run"), {})->run(kGoOn);
  RunListener listener;
  bool told = false;
  listener.note = [&](const std::string&) { told = true; };
  CHECK_THROWS_AS(Run::fresh(plan_at("auto", folder / "run"), {.listener = listener}), IoError);
  CHECK(!told);
}

TEST_CASE("an open lag takes room for 1, and turns until it is chosen") {
  const auto open = plan_at("auto", "");
  CHECK(open->memory().total() == plan_at("1", "")->memory().total());
  CHECK(open->algorithm().leaves_lag_open());
  CHECK(open->algorithm().async().max_lag == 0);
  CHECK_THROWS_WITH_AS(plan_at("-1", ""), doctest::Contains("auto, or 0 to 16"), ConfigError);
}

TEST_CASE("a plan with one more setting is otherwise the same") {
  const auto plan = plan_at("2", "somewhere");
  const auto other = plan->with("seed", "7", "test");
  CHECK(other->config().seed == 7);
  CHECK(plan->config().seed == 1);
  CHECK(other->algorithm().async().max_lag == 2);
  CHECK(other->run_dir() == "somewhere");
}
