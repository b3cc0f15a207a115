#include "penstock/domains/cage2/workflow/workflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/store/temporary_folder.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/run.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "penstock/domains/cage2/workflow/orders.h"

namespace penstock::cage2 {
namespace {

constexpr std::int64_t kEpisodeSteps = 100;
constexpr double kUnknown = 0.5;  // compliance before the first episode
// Places in EpisodeEnd::stats, see WorkflowEnv::spec().
constexpr std::size_t kGameReturn = 0;
constexpr std::size_t kCompliance = 1;
constexpr std::size_t kFixes = 2;

/// As recipes/cage2-workflow.toml.
constexpr const char* kSourceSettings = R"(
[env]
id = "cage2_workflow"
max_steps = 100

[ppo]
learning_rate = 0.002
learning_rate_schedule = "constant"
gamma = 0.99
gae_lambda = 0.5
clip = 0.2
value_weight = 0.5
entropy_weight = 0.01
max_grad_norm = 0.5
adam_beta2 = 0.99
policy_epochs = 4
value_epochs = 4
minibatch = 250

[normalise]
reward = true
)";

Catalog catalog() {
  Catalog catalog = core_catalog();
  catalog.envs = cage2_envs();
  return catalog;
}

void require(bool holds, const std::string& what) {
  if (!holds) { throw ConfigError("a workflow's training: " + what); }
}

const Field& field_of(const RunPlan& plan, const char* path) {
  return *std::ranges::find(plan.fields(), path, &Field::path);
}

/// A mask by the order, and a constraint, bring compliance about before the return.
bool complies_early(const RunPlan& plan) {
  return *std::get<std::string*>(field_of(plan, "env.mask").target) == "order" ||
         *std::get<double*>(field_of(plan, "env.constraint").target) > 0;
}

/// What is watched of one job's run.
class Watch {
 public:
  Watch(const WorkflowJob& job, const RunPlan& plan)
      : job_(job),
        average_(static_cast<std::size_t>(plan.config().env.num_envs), job.min_episodes_per_env),
        waits_for_return_(complies_early(plan)) {}

  /// Whether to end here: what has just complied is what stays.
  bool see(const Progress& now, std::span<const EpisodeEnd> ends) {
    Moments reward;
    for (const EpisodeEnd& end : ends) {
      reward.add(end.stats[kGameReturn]);
      average_.add(end.env, end.stats[kCompliance], std::llround(end.stats[kFixes]));
    }
    if (reward.count > 0) { last_reward_ = reward.mean; }
    if (average_.num_episodes() > 0) {
      curve_.push_back({now.timesteps, last_reward_, average_.average()});
    }
    trend_.add(reward);
    stopped_ =
        average_.reached(job_.compliance_threshold) && !(waits_for_return_ && trend_.rising());
    return stopped_;
  }

  void report(WorkflowResult& result) const {
    result.compliance = average_.average();
    result.env_compliance = average_.per_env();
    result.compliant = result.compliance >= job_.compliance_threshold;
    result.stopped_early = stopped_;
    result.episodes = average_.num_episodes();
    result.curve = curve_;
  }

 private:
  const WorkflowJob& job_;
  AverageCompliance average_;
  ReturnTrend trend_;
  bool waits_for_return_;
  std::vector<CurvePoint> curve_;
  double last_reward_ = 0;
  bool stopped_ = false;
};

void evaluate(const WorkflowJob& job, Run& run, WorkflowResult& result) {
  if (job.eval_episodes == 0) { return; }
  Engine& engine = run.engine();
  const std::vector<EpisodeEnd> ends =
      play_episodes(engine.player(), run.plan().env(), engine.pool(),
                    {.episodes = job.eval_episodes, .seed = job.seed, .deterministic = false});
  const OrderScore score = score_of(ends);
  result.mean_return = score.mean_return;
  result.std_error = score.std_error;
  result.eval_compliance = score.compliance;
  result.lost_compliance = score.lost_compliance;
  result.fixes = score.fixes;
  result.worth = score.worth;
}

WorkflowResult train(const WorkflowJob& job, std::shared_ptr<const RunPlan> plan,
                     const std::string& dir) {
  Watch watch(job, *plan);
  RunOptions options;
  options.dir = dir;
  options.listener.enough = [&](const Progress& now, std::span<const EpisodeEnd> ends) {
    return watch.see(now, ends);
  };
  const std::unique_ptr<Run> run = Run::fresh(std::move(plan), options);
  const std::atomic<bool> never{false};
  const Summary summary = run->run(never);
  WorkflowResult result{};
  result.order = job.order;
  result.seconds = summary.time_elapsed;
  result.steps = summary.total_timesteps;
  result.digest = summary.digest;
  watch.report(result);
  evaluate(job, *run, result);
  return result;
}

}  // namespace

void ReturnTrend::add(const Moments& returns) {
  if (returns.count == 0) { return; }
  last_.push_back(returns);
  if (last_.size() > 2 * kWindow) { last_.pop_front(); }
}

bool ReturnTrend::rising() const {
  if (last_.size() < 2 * kWindow) { return true; }
  Moments before;
  Moments after;
  for (std::size_t i = 0; i < kWindow; ++i) {
    before.merge(last_[i]);
    after.merge(last_[kWindow + i]);
  }
  const auto variance = [](const Moments& m) {  // of the mean
    return m.m2 / std::max(1.0, m.count - 1) / m.count;
  };
  return after.mean - before.mean > std::sqrt(variance(before) + variance(after));
}

void AverageCompliance::add(std::size_t env, double compliance, std::int64_t num_fixes) {
  History& history = envs_[env];
  history.last.push_back(compliance);
  if (history.last.size() > kWindow) { history.last.pop_front(); }
  ++history.num_episodes;
  num_fixes_ += num_fixes;
}

double AverageCompliance::History::mean() const {
  return last.empty() ? kUnknown : std::accumulate(last.begin(), last.end(), 0.0) / last.size();
}

std::vector<double> AverageCompliance::per_env() const {
  std::vector<double> means(envs_.size());
  std::ranges::transform(envs_, means.begin(), &History::mean);
  return means;
}

double AverageCompliance::average() const {
  double sum = 0;
  double count = 0;
  for (const History& env : envs_) {
    if (env.last.empty()) { continue; }
    sum += env.mean();
    count += 1;
  }
  return count > 0 ? sum / count : kUnknown;
}

bool AverageCompliance::reached(double threshold) const {
  const bool enough = std::ranges::all_of(
      envs_, [&](const History& env) { return env.num_episodes >= min_episodes_; });
  return enough && num_fixes_ >= kMinFixes && average() >= threshold;
}

std::int64_t AverageCompliance::num_episodes() const {
  return std::accumulate(
      envs_.begin(), envs_.end(), std::int64_t{0},
      [](std::int64_t sum, const History& env) { return sum + env.num_episodes; });
}

Settings workflow_settings(const WorkflowJob& job) {
  require(is_order(job.order), "order: expected each of the types 0 to 4 once");
  require(job.train_episodes_per_env > 0, "train_episodes_per_env: expected at least 1");
  require(job.min_episodes_per_env > 0, "min_episodes_per_env: expected at least 1");
  require(job.eval_episodes >= 0, "eval_episodes: expected 0 or more");
  Settings settings;
  settings.add_toml(kSourceSettings, "cage2-workflow");
  const auto set = [&](const char* key, const std::string& value) {
    settings.add(key, value, "the job");
  };
  set("env.order", order_name(job.order));
  set("env.red", job.red);
  set("env.rules", job.rules);
  set("env.compliance_rule", std::string(1, job.compliance_rule));
  set("env.num_envs", std::to_string(job.n_envs));
  set("rollout.steps", std::to_string(job.update_every_steps));
  set("total_timesteps",
      std::to_string(std::int64_t{job.n_envs} * job.train_episodes_per_env * kEpisodeSteps));
  set("seed", std::to_string(job.seed));
  set("threads", std::to_string(job.threads));
  set("run.eval_episodes", "0");  // it is evaluated as it acts in training, by whoever trains it
  if (!job.conditioned) {
    set("env.show_order", "false");
    set("env.alpha", "0");
    set("env.beta", "0");
  }
  return settings;
}

WorkflowResult train_workflow(const WorkflowJob& job, const WorkflowRunOptions& options) {
  Settings settings = workflow_settings(job);
  for (const Setting& change : options.changes.all()) { settings.append(change); }
  auto plan = std::make_shared<const RunPlan>(settings, catalog());
  if (!options.dir.empty()) { return train(job, std::move(plan), options.dir); }
  const TemporaryFolder folder;  // of a run that nobody wants to keep
  return train(job, std::move(plan), folder / "run");
}

}  // namespace penstock::cage2
