#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/progress_bar.h"
#include "cli/verbs.h"
#include "penstock/train/bench.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::json;

struct BenchArgs {
  Common common;
  BenchOptions options;
};

void add_bench_options(CLI::App& verb, BenchArgs& args) {
  add_config_options(verb, args.common);
  verb.add_option("--rounds", args.options.rounds, "rounds; the median counts")
      ->check(CLI::Range(1, 1000));
  verb.add_option("--round-seconds", args.options.round_seconds, "seconds a round")
      ->check(CLI::Range(0.01, 3600.0));
  verb.add_flag("--json", args.common.json, "one line of JSON on stdout");
  if (isatty(STDERR_FILENO) == 1) {
    args.options.progress = [](int done, int total) {
      fmt::print(stderr, "\rround {}/{}{}", done, total, done == total ? "\n" : "");
    };
  }
}

Exit env(const BenchArgs& args, const Catalog& catalog) {
  const Plan plan(args.common.settings(), catalog);
  const Rate rate = bench_env(plan, args.options);
  if (args.common.json) {
    fmt::print("{}\n", Json{{"bench", "env"},
                            {"env", plan.config().env.id},
                            {"num_envs", plan.config().env.num_envs},
                            {"threads", plan.config().threads},
                            {"steps_per_second", rate.median},
                            {"low", rate.low},
                            {"high", rate.high}}
                           .dump());
  } else {
    fmt::print("{} steps/s ({} to {}), {} x {}\n", count_text(rate.median), count_text(rate.low),
               count_text(rate.high), plan.config().env.num_envs, plan.config().env.id);
  }
  return Exit::ok;
}

/// The work that other systems are measured on: CartPole, T = 128, 4 epochs.
Settings matched_work() {
  Settings settings;
  settings.add("rollout.steps", "128", "bench");
  settings.add("ppo.policy_epochs", "4", "bench");
  settings.add("ppo.value_epochs", "4", "bench");
  settings.add("ppo.minibatch", "2048", "bench");
  return settings;
}

Exit ppo(const BenchArgs& args, const Catalog& catalog) {
  Settings settings = matched_work();
  const Settings given = args.common.settings();
  for (const Setting& s : given.all()) { settings.add(s.path, s.text, s.origin); }
  const Plan plan(settings, catalog);
  const PpoBench result = bench_ppo(plan, args.options);
  const RunConfig& config = plan.config();
  if (args.common.json) {
    fmt::print("{}\n", Json{{"bench", "ppo"},
                            {"env", config.env.id},
                            {"num_envs", config.env.num_envs},
                            {"minibatch", config.ppo.minibatch},
                            {"shards", config.rollout.shards},
                            {"threads", config.threads},
                            {"samples_per_second", result.ours.median},
                            {"low", result.ours.low},
                            {"high", result.ours.high},
                            {"bare_samples_per_second", result.bare.median},
                            {"bare_low", result.bare.low},
                            {"bare_high", result.bare.high},
                            {"ratio", result.ratio}}
                           .dump());
  } else {
    fmt::print("{} samples/s end to end, {} bare: ratio {:.2f}\n", count_text(result.ours.median),
               count_text(result.bare.median), result.ratio);
  }
  return Exit::ok;
}

}  // namespace

std::vector<Verb> bench_verbs(CLI::App& app, const Catalog& catalog) {
  CLI::App* bench = app.add_subcommand("bench", "measure this machine");
  bench->require_subcommand(1);
  auto env_args = std::make_shared<BenchArgs>();
  CLI::App* env_app = bench->add_subcommand("env", "env steps per second, no policy");
  add_bench_options(*env_app, *env_args);
  auto ppo_args = std::make_shared<BenchArgs>();
  CLI::App* ppo_app =
      bench->add_subcommand("ppo", "training samples per second beside bare libtorch");
  add_bench_options(*ppo_app, *ppo_args);
  add_key(*ppo_app, ppo_args->common, "--minibatch", "ppo.minibatch", "samples per gradient step");
  return {{env_app, [env_args, &catalog] { return env(*env_args, catalog); }},
          {ppo_app, [ppo_args, &catalog] { return ppo(*ppo_args, catalog); }}};
}

}  // namespace penstock::cli
