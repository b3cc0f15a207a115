#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "penstock/train/evaluate.h"
#include "penstock/train/trained_run.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::json;

struct EvalArgs {
  std::string path;
  std::string checkpoint = "latest";
  std::int64_t episodes = 100;
  std::uint64_t seed = 0;
  bool sampled = false;
};

void print(const EvalResult& result, bool json) {
  if (!json) {
    fmt::print(
        "mean reward {:.2f} (95 % interval {:.2f} to {:.2f}), std {:.2f}, mean length {:.1f}, {} "
        "episodes\n",
        result.mean_reward, result.ci95_low, result.ci95_high, result.std_reward,
        result.mean_ep_length, result.episodes);
    return;
  }
  Json out = {{"mean_reward", result.mean_reward},
              {"std_reward", result.std_reward},
              {"ci95", {result.ci95_low, result.ci95_high}},
              {"mean_ep_length", result.mean_ep_length},
              {"episodes", result.episodes}};
  if (!std::isnan(result.success_rate)) { out["success_rate"] = result.success_rate; }
  fmt::print("{}\n", out.dump());
}

Exit eval(const EvalArgs& args, const Common& common, const Catalog& catalog) {
  const TrainedRun run =
      open_run({.dir = args.path, .checkpoint = args.checkpoint, .changes = common.flags}, catalog,
               [](const std::string& text) { fmt::print(stderr, "penstock: {}\n", text); });
  print(evaluate(run.engine->actor(), run.plan->env(), run.engine->pool(),
                 {.episodes = args.episodes, .seed = args.seed, .deterministic = !args.sampled}),
        common.json);
  return Exit::ok;
}

}  // namespace

Verb eval_verb(CLI::App& app, const Catalog& catalog) {
  auto common = std::make_shared<Common>();
  auto args = std::make_shared<EvalArgs>();
  CLI::App* verb = app.add_subcommand("eval", "play whole episodes with a trained policy");
  verb->add_option("run_dir", args->path, "the run directory")->required();
  verb->add_option("--episodes,--num-episodes", args->episodes, "how many")
      ->check(CLI::Range(1, 1'000'000));
  verb->add_option("--seed", args->seed, "of the episodes (default 0)");
  verb->add_option("--checkpoint", args->checkpoint, "latest, best or a step");
  verb->add_flag("--sampled,!--deterministic", args->sampled,
                 "sample actions instead of taking the most likely one");
  add_key(*verb, *common, "--threads", "threads", "threads; 0: all cores");
  add_key(*verb, *common, "--device", "device", "cpu, cuda or mps");
  verb->add_flag("--json", common->json, "one line of JSON on stdout");
  return {verb, [args, common, &catalog] { return eval(*args, *common, catalog); }};
}

}  // namespace penstock::cli
