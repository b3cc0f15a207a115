#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include "dvrptw_cli/verbs.h"
#include "penstock/base/thread_pool.h"
#include "penstock/routing_nn/neural_oracle.h"
#include "penstock/routing_train/evaluate.h"
#include "penstock/routing_train/learnt_policy.h"
#include "penstock/store/run_dir.h"
#include "penstock/train/config.h"

namespace penstock::routing {
namespace {

constexpr std::int64_t kDaysOfThoseWhoStay = 10;

struct EvalArgs {
  std::string run;
  std::string policies = "null,random,random-masked,myopic,myopic-known,myopic-bayes,max";
  std::int64_t days_per_stay = 0;  // 0: as the env says
  std::string reference;
  std::int64_t threads = 0;
  bool json = false;
  std::vector<std::string> assignments;
  EvaluationOptions options;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) { words.push_back(word); }
  return words;
}

/// The run's config, then what was set for the evaluation.
Settings settings_of(const EvalArgs& args) {
  Settings settings;
  settings.add("env.id", "dvrptw", "penstock dvrptw eval");
  if (!args.run.empty()) {
    const RunDir dir(args.run, RunDir::Open::read);
    settings.add_toml(dir.read("config.toml"), "config.toml");
  }
  for (const std::string& each : args.assignments) { settings.add_assignment(each, "--set"); }
  const Setting* id = settings.find("env.id");
  if (id->text != "dvrptw") {
    throw UsageError(fmt::format("{}: a run of {}, not of dvrptw", args.run, id->text));
  }
  return settings;
}

/// The keys of the env alone.
DvrptwConfig config_of(const Settings& settings) {
  Settings own;
  for (const Setting& setting : settings.all()) {
    const bool mine = setting.path.starts_with("env.") && setting.path != "env.id" &&
                      setting.path != "env.num_envs";
    if (mine) { own.append(setting); }
  }
  DvrptwConfig config;
  std::vector<Field> fields = fields_of(config, "env.");
  penstock::apply(fields, own);
  return config;
}

/// A trained network, ready to act.
struct Learnt {
  penstock::Plan plan;
  Engine engine;

  Learnt(const EvalArgs& args, const Settings& settings, const Catalog& catalog)
      : plan(settings, catalog), engine(plan) {
    RunDir dir(args.run, RunDir::Open::read);
    engine.restore(dir.checkpoints().load_latest(
        [](const std::string& text) { fmt::print(stderr, "penstock: {}\n", text); }));
  }
};

Playground playground_of(const DvrptwConfig& config, const EvalArgs& args) {
  const std::int64_t stay = config.stay_days > 0 ? config.stay_days : kDaysOfThoseWhoStay;
  make_any_oracle(config.oracle);  // a misspelt one is told at once
  return {.make_generator = [config] { return generator_of(config); },
          .make_oracle = [config] { return make_any_oracle(config.oracle); },
          .rules = rules_of(config),
          .num_customers = static_cast<std::size_t>(config.customers),
          .days_per_stay = args.days_per_stay > 0 ? args.days_per_stay : stay};
}

Exit eval(EvalArgs args, const Catalog& catalog) {
  const Settings settings = settings_of(args);
  const DvrptwConfig config = config_of(settings);
  const std::vector<std::string> names = words_of(args.policies);
  if (names.empty()) { throw UsageError("--policies: name at least one, as in null,max"); }
  if (!args.options.versus.empty() &&
      std::ranges::find(names, args.options.versus) == names.end()) {
    throw UsageError("--versus " + args.options.versus + ": must be one of --policies");
  }
  if (args.reference.empty()) { args.options.reference_days = 0; }
  std::optional<Learnt> learnt;
  std::vector<NamedPolicy> policies;
  for (const std::string& name : names) {
    if (name != "ppo") {
      make_offer_policy(name);
      policies.push_back({name, [name](std::size_t) { return make_offer_policy(name); }});
      continue;
    }
    if (args.run.empty()) { throw UsageError("--policies ppo: name the run directory of it"); }
    learnt.emplace(args, settings, catalog);
    policies.push_back({name, [&](std::size_t worker) {
                          return make_learnt_policy(config, learnt->engine.actor(), worker);
                        }});
  }
  const std::size_t threads =
      args.threads > 0 ? static_cast<std::size_t>(args.threads) : available_cores();
  ThreadPool pool({.num_threads = threads, .on_start = use_one_torch_thread});
  pool.use(pool.size());
  args.options.workers =
      learnt ? std::min(threads, learnt->engine.actor().policy.num_shards()) : threads;
  const Evaluation found =
      evaluate_offers(playground_of(config, args), policies, pool, args.options);
  fmt::print("{}{}", args.json ? found.json() : found.text(), args.json ? "\n" : "");
  return Exit::ok;
}

void add_reference_options(CLI::App& verb, EvalArgs& args) {
  verb.add_option("--reference", args.reference,
                  "pyvrp: final plans are solved again by PyVRP, and both costs told")
      ->check(CLI::IsMember({"pyvrp"}));
  verb.add_option("--reference-days", args.options.reference_days,
                  "days of each policy that the reference solves (default 20)")
      ->check(CLI::Range(1, 1'000'000));
  verb.add_option("--reference-seconds", args.options.reference.seconds,
                  "its time for a day (default 1)")
      ->check(CLI::Range(0.01, 3600.0));
  verb.add_option("--python", args.options.reference.python,
                  "the interpreter that has PyVRP (default python3)");
}

}  // namespace

Verb eval_verb(CLI::App& app, const Catalog& catalog) {
  auto args = std::make_shared<EvalArgs>();
  args->options.reference_days = 20;
  CLI::App* verb =
      app.add_subcommand("eval", "compare policies on the same days, people and answers");
  verb->add_option("run_dir", args->run, "the run whose network is the policy ppo");
  verb->add_option("--policies", args->policies,
                   "of null, random, random-masked, myopic, myopic-known, myopic-bayes, max, ppo")
      ->capture_default_str();
  verb->add_option("--episodes", args->options.days, "days to play (default 1000)")
      ->check(CLI::Range(1, 10'000'000));
  verb->add_option("--days", args->days_per_stay,
                   "days that the same people book; without it env.stay_days, or 10 when they stay "
                   "for ever")
      ->check(CLI::Range(1, 1'000'000));
  verb->add_option("--versus", args->options.versus,
                   "whom the others are compared with; without it, the first");
  verb->add_option("--seed", args->options.seed, "of days, people and answers (default 0)");
  verb->add_option("--set", args->assignments,
                   "set any key for the evaluation: --set env.oracle=rr-50 (may be repeated)")
      ->allow_extra_args(false);
  verb->add_option("--audit", args->options.audit_share,
                   "share of the steps that rr-1000 solves again: the gap and wrong signs are told")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--threads", args->threads, "threads; without it, all cores")
      ->check(CLI::Range(1, 1024));
  add_reference_options(*verb, *args);
  verb->add_flag("--json", args->json, "one line of JSON on stdout");
  return {verb, [args, &catalog] { return eval(*args, catalog); }};
}

}  // namespace penstock::routing
