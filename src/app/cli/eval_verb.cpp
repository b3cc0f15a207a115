#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "app/cli/stop_signal.h"
#include "app/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/evaluate.h"
#include "penstock/core/train/trained_run.h"

namespace penstock::cli {
namespace {

struct EvalArgs {
  std::string path;
  std::string checkpoint = "latest";
  std::int64_t episodes = 100;
  std::uint64_t seed = 0;
  std::int64_t max_steps = 0;
  bool sampled = false;
};

void print(const EvalResult& result, bool json) {
  if (!json) {
    fmt::print(
        "mean reward {:.2f} (95 % interval {:.2f} to {:.2f}), std {:.2f}, mean length {:.1f}, {} "
        "episodes\n",
        result.mean_reward, result.ci95_low, result.ci95_high, result.std_reward,
        result.mean_ep_length, result.episodes);
    for (const auto& [name, mean] : result.stats) { fmt::print("mean {} {:.5g}\n", name, mean); }
    if (result.cut_off > 0) {
      fmt::print("{} episodes were cut off by --max-steps\n", result.cut_off);
    }
    return;
  }
  Json out = {{"mean_reward", result.mean_reward},
              {"std_reward", result.std_reward},
              {"ci95", {result.ci95_low, result.ci95_high}},
              {"mean_ep_length", result.mean_ep_length},
              {"episodes", result.episodes}};
  if (!std::isnan(result.success_rate)) { out["success_rate"] = result.success_rate; }
  for (const auto& [name, mean] : result.stats) { out["stats"][name] = mean; }
  if (result.cut_off > 0) { out["cut_off"] = result.cut_off; }
  fmt::print("{}\n", to_text(out));
}

/// What a policy was trained with is its own; where it plays can be changed.
void add_env_changes(const std::vector<std::string>& assignments, Common& common) {
  for (const std::string& assignment : assignments) {
    if (!assignment.starts_with("env.")) {
      throw UsageError("--set " + assignment +
                       ": expected a key of the env, as env.max_steps=50; how the policy was "
                       "trained cannot be changed");
    }
    common.flags.add_assignment(assignment, "--set");
  }
}

Exit eval(const EvalArgs& args, Common& common, const Catalog& catalog) {
  add_env_changes(common.assignments, common);
  const TrainedRun run = open_chosen(args.path, args.checkpoint, common, catalog);
  ThreadPool pool({.num_threads = threads_of(*run.plan), .on_start = use_one_torch_thread});
  const EvalResult result = evaluate(run.player, run.plan->env(), pool,
                                     {.episodes = args.episodes,
                                      .seed = args.seed,
                                      .deterministic = !args.sampled,
                                      .max_steps = args.max_steps,
                                      .stop = &stop_on_signal()});
  if (result.episodes == 0) {
    fmt::print(stderr, "penstock: stopped before the last episode; nothing is told\n");
    return Exit::preempted;
  }
  print(result, common.json);
  return Exit::ok;
}

}  // namespace

Verb eval_verb(Options& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto args = std::make_shared<EvalArgs>();
  Options& verb = app.add_command("eval", "play whole episodes with a trained policy");
  verb.add("run_dir", args->path, "the run directory").required();
  verb.add("--episodes,--num-episodes", args->episodes, "episodes to play").within(1, 1'000'000);
  verb.add("--max-steps", args->max_steps, "steps after which an episode is cut off; 0: never")
      .within(0, 1'000'000'000);
  verb.add("--seed", args->seed, "seed of the episodes (default 0)");
  verb.add("--checkpoint", args->checkpoint, "checkpoint to play: latest, best or a step");
  verb.add_flag("--sampled,!--deterministic", args->sampled,
                "sample actions instead of taking the most likely one");
  verb.add_repeated("--set", common->assignments,
                    "play in a changed env: --set env.red=meander (may be repeated)");
  add_key(verb, *common, "--threads", "threads", "threads; 0: all cores");
  add_key(verb, *common, "--device", "device", "where the network runs: cpu, cuda or mps");
  add_trust_options(verb, *common);
  verb.add_flag("--json", common->json, "one line of JSON on stdout");
  return {&verb, [args, common, &catalog] { return eval(*args, *common, catalog); }};
}

}  // namespace penstock::cli
