#include "dvrptw_cli/contest.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "penstock/base/thread_pool.h"
#include "penstock/routing_nn/neural_oracle.h"
#include "penstock/routing_train/learnt_policy.h"
#include "penstock/store/run_dir.h"
#include "penstock/train/config.h"

namespace penstock::routing {
namespace {

constexpr std::int64_t kDaysOfThoseWhoStay = 10;

/// The run's config, then what was set for the evaluation.
Settings settings_of(const ContestArgs& args) {
  Settings settings;
  settings.add("env.id", "dvrptw", "penstock dvrptw");
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

Playground playground_of(const DvrptwConfig& config, const ContestArgs& args) {
  const std::int64_t stay = config.stay_days > 0 ? config.stay_days : kDaysOfThoseWhoStay;
  make_any_oracle(config.oracle);  // a misspelt one is told at once
  return {.make_generator = [config] { return generator_of(config); },
          .make_oracle = [config] { return make_any_oracle(config.oracle); },
          .rules = rules_of(config),
          .num_customers = static_cast<std::size_t>(config.customers),
          .days_per_stay = args.days_per_stay > 0 ? args.days_per_stay : stay};
}

std::size_t threads_of(const ContestArgs& args) {
  return args.threads > 0 ? static_cast<std::size_t>(args.threads) : available_cores();
}

}  // namespace

/// A trained network, ready to act.
struct Contest::Learnt {
  penstock::Plan plan;
  Engine engine;

  Learnt(const ContestArgs& args, const Settings& settings, const Catalog& catalog)
      : plan(settings, catalog), engine(plan) {
    RunDir dir(args.run, RunDir::Open::read);
    engine.restore(dir.checkpoints().load_latest(
        [](const std::string& text) { fmt::print(stderr, "penstock: {}\n", text); }));
  }
};

Contest::Contest(const ContestArgs& args, const Catalog& catalog)
    : options_(args.options),
      pool_({.num_threads = threads_of(args), .on_start = use_one_torch_thread}) {
  const Settings settings = settings_of(args);
  config_ = config_of(settings);
  ground_ = playground_of(config_, args);
  const std::vector<std::string> names = words_of(args.policies);
  if (names.empty()) { throw UsageError("--policies: name at least one, as in null,max"); }
  if (!options_.versus.empty() && std::ranges::find(names, options_.versus) == names.end()) {
    throw UsageError("--versus " + options_.versus + ": must be one of --policies");
  }
  if (args.reference.empty()) { options_.reference_days = 0; }
  for (const std::string& name : names) { add_policy(name, args, settings, catalog); }
  pool_.use(pool_.size());
  options_.workers =
      learnt_ ? std::min(pool_.size(), learnt_->engine.actor().policy.num_shards()) : pool_.size();
}

Contest::~Contest() = default;

void Contest::add_policy(const std::string& name, const ContestArgs& args, const Settings& settings,
                         const Catalog& catalog) {
  if (name != "ppo") {
    make_offer_policy(name);
    policies_.push_back({name, [name](std::size_t) { return make_offer_policy(name); }});
    return;
  }
  if (args.run.empty()) { throw UsageError("--policies ppo: name the run directory of it"); }
  learnt_ = std::make_unique<Learnt>(args, settings, catalog);
  policies_.push_back({name, [this](std::size_t worker) {
                         return make_learnt_policy(config_, learnt_->engine.actor(), worker);
                       }});
}

Evaluation Contest::play() { return evaluate_offers(ground_, policies_, pool_, options_); }

Bound Contest::bound() { return bound_of(ground_, pool_, options_); }

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) { words.push_back(word); }
  return words;
}

namespace {

void add_reference_options(CLI::App& verb, ContestArgs& args) {
  args.options.reference_days = 20;
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

void add_contest_options(CLI::App& verb, ContestArgs& args) {
  verb.add_option("run_dir", args.run, "the run whose network is the policy ppo");
  verb.add_option("--policies", args.policies,
                  "of null, random, random-masked, myopic, myopic-known, myopic-bayes, max, ppo")
      ->capture_default_str();
  verb.add_option("--episodes", args.options.days, "days to play")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  verb.add_option("--days", args.days_per_stay,
                  "days that the same people book; without it env.stay_days, or 10 when they stay "
                  "for ever")
      ->check(CLI::Range(1, 1'000'000));
  verb.add_option("--seed", args.options.seed, "of days, people and answers (default 0)");
  verb.add_option("--set", args.assignments,
                  "set any key for the evaluation: --set env.oracle=rr-50 (may be repeated)")
      ->allow_extra_args(false);
  verb.add_option("--threads", args.threads, "threads; without it, all cores")
      ->check(CLI::Range(1, 1024));
  add_reference_options(verb, args);
}

}  // namespace penstock::routing
