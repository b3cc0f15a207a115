#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cage2_cli/verbs.h"
#include "penstock/cage2_train/workflow.h"

namespace penstock::cage2 {
namespace {

using Json = nlohmann::ordered_json;

struct WorkflowArgs {
  WorkflowJob job;
  std::string order = order_name(WorkflowJob{}.order);
  std::string rule = "B";
  bool unconditioned = false;
  bool json = false;
  Settings changes;
};

Json curve_json(const std::vector<CurvePoint>& curve) {
  Json points = Json::array();
  for (const CurvePoint& point : curve) {
    points.push_back(
        {{"steps", point.steps}, {"reward", point.reward}, {"compliance", point.compliance}});
  }
  return points;
}

void print_json(const WorkflowArgs& args, const WorkflowResult& result) {
  const Json line = {{"order", order_name(result.order)},
                     {"red", args.job.red},
                     {"rules", args.job.rules},
                     {"compliance_rule", args.rule},
                     {"conditioned", args.job.conditioned},
                     {"seed", args.job.seed},
                     {"mean_return", result.mean_return},
                     {"std_error", result.std_error},
                     {"compliance", result.compliance},
                     {"compliant", result.compliant},
                     {"eval_compliance", result.eval_compliance},
                     {"stopped_early", result.stopped_early},
                     {"episodes", result.episodes},
                     {"steps", result.steps},
                     {"seconds", result.seconds},
                     {"digest", result.digest},
                     {"curve", curve_json(result.curve)}};
  fmt::print("{}\n", line.dump());
}

void print_text(const WorkflowArgs& args, const WorkflowResult& result) {
  fmt::print("{} against {}, rules {}\n\n   steps    return  compliance\n",
             order_name(result.order), args.job.red, args.job.rules);
  for (const CurvePoint& point : result.curve) {
    fmt::print("{:8} {:9.1f} {:10.1f} %\n", point.steps, point.reward, 100 * point.compliance);
  }
  fmt::print(
      "\n{} after {} episodes, {} steps, {:.2f} s: compliance {:.1f} % by rule {} ({:.1f} % in "
      "evaluation)\nreturn {:.2f} ± {:.2f} in {} episodes\ndigest {}\n",
      result.stopped_early ? "stopped early" : "ended", result.episodes, result.steps,
      result.seconds, 100 * result.compliance, args.rule, 100 * result.eval_compliance,
      result.mean_return, result.std_error, args.job.eval_episodes, result.digest);
}

Exit workflow(WorkflowArgs& args) {
  args.job.order = order_of(args.order);
  args.job.compliance_rule = args.rule.empty() ? ' ' : args.rule.front();
  args.job.conditioned = !args.unconditioned;
  const WorkflowResult result = train_workflow(args.job, args.changes);
  if (args.json) {
    print_json(args, result);
  } else {
    print_text(args, result);
  }
  return Exit::ok;
}

}  // namespace

Verb workflow_verb(CLI::App& app) {
  auto args = std::make_shared<WorkflowArgs>();
  WorkflowJob& job = args->job;
  CLI::App* verb = app.add_subcommand(
      "workflow", "train one policy to repair in a given order, and evaluate it");
  const auto add = [verb](const char* flag, auto& target, const char* doc) {
    verb->add_option(flag, target, doc)->capture_default_str();
  };
  add("--order", args->order, "types of hosts, the most urgent first");
  add("--red", job.red, "the attacker: bline, meander, sleep or mix");
  add("--rules", job.rules, "head or leaderboard");
  add("--n-envs", job.n_envs, "envs side by side");
  add("--train-episodes-per-env", job.train_episodes_per_env, "at most");
  add("--compliance-threshold", job.compliance_threshold, "average at which training ends");
  add("--update-every-steps", job.update_every_steps, "steps of every env per update");
  add("--compliance-rule", args->rule, "A or B");
  verb->add_flag("--unconditioned", args->unconditioned,
                 "plain PPO: neither the order in the observation nor its reward");
  add("--eval-episodes", job.eval_episodes, "of the evaluation");
  add("--seed", job.seed, "of everything random");
  add("--threads", job.threads, "never changes results");
  verb->add_option_function<std::vector<std::string>>(
          "--set",
          [args](const std::vector<std::string>& all) {
            for (const std::string& each : all) { args->changes.add_assignment(each, "--set"); }
          },
          "change any key of the run: --set ppo.entropy_weight=0.02 (may be repeated)")
      ->allow_extra_args(false);
  verb->add_flag("--json", args->json, "one line of JSON on stdout");
  return {verb, [args] { return workflow(*args); }};
}

}  // namespace penstock::cage2
