#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/store/journal.h"
#include "penstock/domains/cage2/workflow/workflow.h"

namespace penstock::cage2 {
namespace {

struct WorkflowArgs {
  WorkflowJob job;
  std::string order = order_name(WorkflowJob{}.order);
  std::string rule = "B";
  bool unconditioned = false;
  bool json = false;
  WorkflowRunOptions run;
};

OrderedJson curve_json(const std::vector<CurvePoint>& curve) {
  OrderedJson points = OrderedJson::array();
  for (const CurvePoint& point : curve) {
    points.push_back(
        {{"steps", point.steps}, {"reward", point.reward}, {"compliance", point.compliance}});
  }
  return points;
}

OrderedJson told_of(const WorkflowArgs& args, const WorkflowResult& result) {
  return {{"order", order_name(result.order)},
          {"red", args.job.red},
          {"rules", args.job.rules},
          {"compliance_rule", args.rule},
          {"conditioned", args.job.conditioned},
          {"seed", args.job.seed},
          {"mean_return", result.mean_return},
          {"std_error", result.std_error},
          {"compliance", result.compliance},
          {"env_compliance", result.env_compliance},
          {"compliant", result.compliant},
          {"eval_compliance", result.eval_compliance},
          {"lost_compliance", result.lost_compliance},
          {"fixes", result.fixes},
          {"worth", result.worth},
          {"stopped_early", result.stopped_early},
          {"episodes", result.episodes},
          {"steps", result.steps},
          {"seconds", result.seconds},
          {"digest", result.digest},
          {"run_dir", args.run.dir},
          {"curve", curve_json(result.curve)}};
}

void print_text(const WorkflowArgs& args, const WorkflowResult& result) {
  const auto [least, most] = std::ranges::minmax_element(result.env_compliance);
  fmt::print("{} against {}, rules {}\n\n   steps    return  compliance\n",
             order_name(result.order), args.job.red, args.job.rules);
  for (const CurvePoint& point : result.curve) {
    fmt::print("{:8} {:9.1f} {:10.1f} %\n", point.steps, point.reward, 100 * point.compliance);
  }
  fmt::print(
      "\n{} after {} episodes, {} steps, {:.2f} s: compliance {:.1f} % by rule {} (envs {:.0f} to "
      "{:.0f} %)\nin {} episodes: return {:.2f} ± {:.2f}, worth {:.2f} with the order's reward; "
      "{:.1f} fixes, "
      "{:.1f} % of them comply, {:.1f} % of those of lost hosts\ndigest {}\nthe "
      "policy: {}\n",
      result.stopped_early ? "stopped early" : "ended", result.episodes, result.steps,
      result.seconds, 100 * result.compliance, args.rule, 100 * *least, 100 * *most,
      args.job.eval_episodes, result.mean_return, result.std_error, result.worth, result.fixes,
      100 * result.eval_compliance, 100 * result.lost_compliance, result.digest, args.run.dir);
}

Exit workflow(WorkflowArgs& args) {
  args.job.order = order_of(args.order);
  args.job.compliance_rule = args.rule.empty() ? ' ' : args.rule.front();
  args.job.conditioned = !args.unconditioned;
  if (args.run.dir.empty()) { args.run.dir = "runs/cage2-" + run_name(args.job); }
  const WorkflowResult result = train_workflow(args.job, args.run);
  const std::string told = to_text(told_of(args, result));
  replace_text(args.run.dir + "/workflow.json", told + "\n");
  if (args.json) {
    fmt::print("{}\n", told);
  } else {
    print_text(args, result);
  }
  return Exit::ok;
}

}  // namespace

std::string run_name(const WorkflowJob& job) {
  std::string order = job.conditioned ? order_name(job.order) : "no_order";
  std::ranges::replace(order, ',', '-');
  return fmt::format("{}-{}", order, job.seed);
}

Verb workflow_verb(Options& app) {
  auto args = std::make_shared<WorkflowArgs>();
  WorkflowJob& job = args->job;
  Options& verb =
      app.add_command("workflow", "train one policy to repair in a given order, and evaluate it");
  const auto add = [&verb](const char* flag, auto& target, const char* doc) {
    verb.add(flag, target, doc).show_default();
  };
  add("--order", args->order, "types of hosts, the most urgent first");
  add("--red", job.red, "the attacker: bline, meander, sleep or mix");
  add("--rules", job.rules, "rules of the game: head or leaderboard");
  add("--n-envs", job.n_envs, "envs side by side");
  add("--train-episodes-per-env", job.train_episodes_per_env, "most episodes of each env");
  add("--compliance-threshold", job.compliance_threshold,
      "average compliance at which training ends");
  add("--min-episodes-per-env", job.min_episodes_per_env,
      "episodes that each env must have had before training may end early");
  add("--update-every-steps", job.update_every_steps, "steps of every env per update");
  add("--compliance-rule", args->rule, "rule of compliance: A or B");
  verb.add_flag("--unconditioned", args->unconditioned,
                "plain PPO: the order is neither observed nor rewarded");
  add("--eval-episodes", job.eval_episodes, "episodes of the evaluation");
  add("--seed", job.seed, "seed of everything random");
  add("--threads", job.threads, "threads; never changes results");
  verb.add("--run-dir", args->run.dir,
           "where the run stays, for eval, play and the rest (default "
           "runs/cage2-ORDER-SEED)");
  verb.add_repeated_call(
      "--set", [args](const std::string& text) { args->run.changes.add_assignment(text, "--set"); },
      "change any key of the run: --set ppo.entropy_weight=0.02 (may be repeated)");
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args] { return workflow(*args); }};
}

}  // namespace penstock::cage2
