#include "penstock/domains/cage2/workflow/workflow.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/run.h"
#include "penstock/domains/cage2/sim/cage2.h"

namespace penstock::cage2 {
namespace {

Catalog small_catalog() {
  Catalog catalog = core_catalog();
  catalog.envs = cage2_envs();
  return catalog;
}

std::map<std::string, std::string> values(const RunPlan& plan) {
  std::map<std::string, std::string> all;
  for (const Field& field : plan.fields()) { all[field.path] = value_text(field); }
  return all;
}

/// A job of a second at most.
WorkflowJob brief() {
  WorkflowJob job;
  job.n_envs = 6;
  job.train_episodes_per_env = 12;
  job.compliance_threshold = 2;  // out of reach
  job.eval_episodes = 10;
  job.seed = 3;
  return job;
}

TEST_CASE("the recipe holds what a job trains with") {
  const Catalog catalog = small_catalog();
  Settings recipe;
  recipe.add_toml_file(PENSTOCK_RECIPES "/cage2-workflow.toml");
  auto of_recipe = values(RunPlan(recipe, catalog));
  auto of_job = values(RunPlan(workflow_settings(WorkflowJob{}), catalog));
  CHECK(of_recipe.at("env.order") == "\"random\"");
  CHECK(of_job.at("env.order") == "\"defender,enterprise,op_server,op_host,user\"");
  for (const char* own : {"env.order", "run.eval_episodes", "seed", "threads"}) {
    of_recipe.erase(own);
    of_job.erase(own);
  }
  CHECK(of_recipe == of_job);
}

TEST_CASE("a job's values are the run's") {
  WorkflowJob job;
  job.order = {4, 3, 2, 1, 0};
  job.red = "meander";
  job.rules = "leaderboard";
  job.n_envs = 7;
  job.train_episodes_per_env = 11;
  job.update_every_steps = 50;
  job.compliance_rule = 'A';
  job.seed = 9;
  const auto keys = values(RunPlan(workflow_settings(job), small_catalog()));
  CHECK(keys.at("env.order") == "\"user,op_host,op_server,enterprise,defender\"");
  CHECK(keys.at("env.red") == "\"meander\"");
  CHECK(keys.at("env.rules") == "\"leaderboard\"");
  CHECK(keys.at("env.num_envs") == "7");
  CHECK(keys.at("total_timesteps") == "7700");
  CHECK(keys.at("rollout.steps") == "50");
  CHECK(keys.at("env.compliance_rule") == "\"A\"");
  CHECK(keys.at("seed") == "9");
  CHECK(keys.at("env.alpha") == keys.at("env.beta"));
  job.conditioned = false;
  const RunPlan plain(workflow_settings(job), small_catalog());
  CHECK(plain.env().spec().obs.size() == 52);
  CHECK(values(plain).at("env.alpha") == "0.0");
  CHECK(values(plain).at("env.beta") == "0.0");
}

TEST_CASE("a job that cannot be is refused") {
  const auto refuses = [](auto change) {
    WorkflowJob job = brief();
    change(job);
    CHECK_THROWS_AS(train_workflow(job), ConfigError);
  };
  refuses([](WorkflowJob& job) { job.order = {0, 1, 2, 3, 3}; });
  refuses([](WorkflowJob& job) { job.order = {0, 1, 2, 3, 7}; });
  refuses([](WorkflowJob& job) { job.red = "green"; });
  refuses([](WorkflowJob& job) { job.compliance_rule = 'C'; });
  refuses([](WorkflowJob& job) { job.n_envs = 0; });
  refuses([](WorkflowJob& job) { job.train_episodes_per_env = 0; });
}

TEST_CASE("the average is over envs of the mean of each env's last five episodes") {
  AverageCompliance average(2);
  CHECK(average.average() == 0.5);
  average.add(0, 1.0, 1);
  CHECK(average.average() == 1.0);  // of those that have an episode
  for (int i = 0; i < 7; ++i) { average.add(1, i < 2 ? 1.0 : 0.2, 1); }
  CHECK(average.average() == doctest::Approx((1.0 + 0.2) / 2));
  average.add(0, 0.5, 1);
  CHECK(average.average() == doctest::Approx((0.75 + 0.2) / 2));
  CHECK(average.num_episodes() == 9);
  CHECK(average.per_env().at(0) == 0.75);
  CHECK(average.per_env().at(1) == doctest::Approx(0.2));
}

Moments around(double mean, double deviation) {
  Moments moments;
  for (int i = 0; i < 12; ++i) { moments.add(mean + (i % 2 == 0 ? deviation : -deviation)); }
  return moments;
}

TEST_CASE("returns rise while five rollouts are better than the five before by more than chance") {
  ReturnTrend trend;
  for (int i = 0; i < 9; ++i) {
    trend.add(around(-50, 5));
    CHECK(trend.rising());  // too early to say
    trend.add({});          // a rollout in which no episode ended says nothing
  }
  trend.add(around(-50, 5));
  CHECK_FALSE(trend.rising());
  for (int i = 0; i < 5; ++i) { trend.add(around(-40, 5)); }
  CHECK(trend.rising());
  for (int i = 0; i < 5; ++i) { trend.add(around(-40, 5)); }
  CHECK_FALSE(trend.rising());
  for (int i = 0; i < 5; ++i) { trend.add(around(-60, 5)); }
  CHECK_FALSE(trend.rising());  // it falls

  // Five times twelve returns of deviation 5 have the variance 25 * 60 / 59 / 60 about their mean:
  // a difference of two such means has the standard error 0.92057.
  for (const double rise : {0.91, 0.93}) {
    ReturnTrend close;
    for (int i = 0; i < 5; ++i) { close.add(around(0, 5)); }
    for (int i = 0; i < 5; ++i) { close.add(around(rise, 5)); }
    CHECK(close.rising() == (rise > 0.92));
  }
}

TEST_CASE(
    "a mask by the order or a constraint waits for the return, other jobs stop as they comply") {
  WorkflowJob job = brief();
  job.compliance_threshold = 0;  // of everybody
  job.min_episodes_per_env = 2;
  job.eval_episodes = 2;
  CHECK(train_workflow(job).episodes == 12);
  WorkflowRunOptions masked;
  for (const char* change : {"env.mask=order", "env.memory=true", "env.macro=true"}) {
    masked.changes.add_assignment(change, "test");
  }
  CHECK(train_workflow(job, masked).episodes >= 60);  // ten rollouts of six
  WorkflowRunOptions bound;
  bound.changes.add_assignment("env.constraint=0.95", "test");
  CHECK(train_workflow(job, bound).episodes >= 60);
}

TEST_CASE("the early stop needs the average, ten episodes of every env and ten fixes") {
  AverageCompliance slow(2);
  for (int i = 0; i < 30; ++i) { slow.add(0, 1, 5); }
  for (int i = 0; i < 9; ++i) { slow.add(1, 1, 5); }
  CHECK_FALSE(slow.reached(0.95));  // env 1 has nine
  slow.add(1, 1, 5);
  CHECK(slow.reached(0.95));
  slow.add(1, 0.4, 5);
  CHECK(slow.average() == doctest::Approx(0.94));
  CHECK_FALSE(slow.reached(0.95));
  CHECK(slow.reached(0.93));

  AverageCompliance early(1, 2);
  early.add(0, 1, 10);
  CHECK_FALSE(early.reached(0.95));
  early.add(0, 1, 0);
  CHECK(early.reached(0.95));

  AverageCompliance idle(1);
  for (int i = 0; i < 20; ++i) { idle.add(0, 1, 0); }
  CHECK_FALSE(idle.reached(0.95));
  idle.add(0, 1, 9);
  CHECK_FALSE(idle.reached(0.95));
  idle.add(0, 1, 1);
  CHECK(idle.reached(0.95));
}

TEST_CASE("training stops as soon as it may, with the policy that complied") {
  WorkflowJob job = brief();
  job.compliance_threshold = 0;
  const WorkflowResult result = train_workflow(job);
  CHECK(result.stopped_early);
  CHECK(result.compliant);
  CHECK(result.episodes == 6 * 10);
  CHECK(result.steps == 6 * 10 * 100);
  CHECK(result.curve.size() == 10);

  job.compliance_threshold = 2;
  const WorkflowResult whole = train_workflow(job);
  CHECK_FALSE(whole.stopped_early);
  CHECK_FALSE(whole.compliant);
  CHECK(whole.episodes == 6 * 12);
  REQUIRE(whole.curve.size() == 12);
  CHECK(whole.curve.back().steps == whole.steps);
  CHECK(whole.curve.back().compliance == whole.compliance);
  for (std::size_t i = 0; i < result.curve.size(); ++i) {
    CHECK(whole.curve[i].reward == result.curve[i].reward);
    CHECK(whole.curve[i].compliance == result.curve[i].compliance);
  }
  CHECK(whole.digest != result.digest);

  job.train_episodes_per_env = 9;  // nine updates, and no tenth after the rollout that complied
  CHECK(train_workflow(job).digest == result.digest);
}

TEST_CASE("threads do not change a result, the seed does") {
  WorkflowJob job = brief();
  const WorkflowResult one = train_workflow(job);
  job.threads = 2;
  const WorkflowResult two = train_workflow(job);
  CHECK(one.digest == two.digest);
  CHECK(one.mean_return == two.mean_return);
  CHECK(one.std_error == two.std_error);
  CHECK(one.compliance == two.compliance);
  CHECK(one.eval_compliance == two.eval_compliance);
  job.seed = 4;
  CHECK(train_workflow(job).digest != one.digest);
}

TEST_CASE("a run that stopped early stays, acts as it was evaluated, and can go on") {
  const TemporaryFolder folder;
  WorkflowJob job = brief();
  job.compliance_threshold = 0;
  const WorkflowResult result = train_workflow(job, {.changes = {}, .dir = folder / "run"});
  CHECK(result.stopped_early);
  CHECK_THROWS_AS(train_workflow(job, {.changes = {}, .dir = folder / "run"}), IoError);

  const auto plan = std::make_shared<const RunPlan>(
      recorded_settings(folder / "run", {}, [](const std::string&) {}), small_catalog());
  const auto run = Run::resume(folder / "run", plan, {});
  CHECK(run->engine().digest() == result.digest);
  const std::atomic<bool> never{false};
  const Summary summary = run->run(never);  // nobody watches its compliance now
  CHECK_FALSE(summary.preempted);
  job.compliance_threshold = 2;
  CHECK(summary.digest == train_workflow(job).digest);
}

TEST_CASE("a run without a place leaves nothing behind") {
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  train_workflow(brief());
  unsetenv("TMPDIR");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("jobs may run side by side") {
  std::array<WorkflowResult, 2> both;
  std::thread other([&] { both[1] = train_workflow(brief()); });
  both[0] = train_workflow(brief());
  other.join();
  CHECK(both[0].digest == both[1].digest);
  CHECK(both[0].digest == train_workflow(brief()).digest);
}

TEST_CASE("rollouts that are not whole episodes count every episode once") {
  WorkflowJob job = brief();
  job.update_every_steps = 30;
  const WorkflowResult result = train_workflow(job);
  CHECK(result.steps == 6 * 1200);
  CHECK(result.episodes == 6 * 12);
  CHECK(result.curve.front().steps == 6 * 120);  // the first rollout in which an episode ended
}

TEST_CASE("returns are the game's own: against a sleeping red they count Restores") {
  WorkflowJob job = brief();
  job.red = "sleep";
  for (const bool conditioned : {true, false}) {
    job.conditioned = conditioned;
    const WorkflowResult result = train_workflow(job);
    CHECK(result.compliance == 1);  // nothing is ever lost
    CHECK(result.mean_return <= 0);
    CHECK(result.mean_return > -30);
    for (const CurvePoint& point : result.curve) {
      CHECK(point.reward <= 0);
      // Whole numbers of Restores, six episodes each.
      CHECK(point.reward * 6 == doctest::Approx(std::round(point.reward * 6)));
    }
  }
}

}  // namespace
}  // namespace penstock::cage2
