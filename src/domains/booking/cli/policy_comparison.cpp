#include "domains/booking/cli/policy_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "penstock/core/base/note.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/core/store/run_dir.h"
#include "penstock/core/train/config.h"
#include "penstock/core/train/engine.h"
#include "penstock/core/train/trained_run.h"
#include "penstock/domains/booking/compare/learnt_policy.h"
#include "penstock/domains/booking/neural/neural_oracle.h"

namespace penstock::booking {
namespace {

constexpr std::int64_t kDaysOfThoseWhoStay = 10;

/// "--max-ride" of "env.max_ride".
std::string flag_of(const std::string& path) {
  std::string name = path.substr(path.find('.') + 1);
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

/// The run's config, then what was set for the evaluation.
Settings settings_of(const ComparisonArgs& args) {
  Settings settings;
  settings.add("env.id", "dvrptw", "penstock booking");
  if (!args.run.empty()) {
    const RunDir dir(args.run, RunDir::Open::read);
    settings.add_toml(dir.read("config.toml"), "config.toml");
  }
  for (const std::string& each : args.assignments) { settings.add_assignment(each, "--set"); }
  for (const auto& [path, value] : args.keys) {
    if (!value.empty()) { settings.add(path, value, flag_of(path)); }
  }
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

EvaluationSetup playground_of(const DvrptwConfig& config, const ComparisonArgs& args) {
  const std::int64_t stay = config.stay_days > 0 ? config.stay_days : kDaysOfThoseWhoStay;
  make_any_oracle(config.oracle);  // a misspelt one is told at once
  return {.make_generator = [config] { return generator_of(config); },
          .make_oracle = [config] { return make_any_oracle(config.oracle); },
          .rules = rules_of(config),
          .num_customers = static_cast<std::size_t>(config.customers),
          .days_per_stay = args.days_per_stay > 0 ? args.days_per_stay : stay};
}

/// What was set that the shape of a network may depend on.
std::vector<std::string> shaping(const ComparisonArgs& args) {
  std::vector<std::string> given = args.assignments;
  for (const auto& [path, value] : args.keys) {
    if (!value.empty()) { given.push_back(fmt::format("{}={}", path, value)); }
  }
  std::vector<std::string> found;
  for (const std::string& each : given) {
    const std::string key = each.substr(0, each.find('='));
    const bool shapes = key == "env.customers" || key == "env.obs" || key == "env.values" ||
                        key == "env.belief" || key.starts_with("net.") || key == "normalise.obs";
    if (shapes) { found.push_back(each); }
  }
  return found;
}

/// Only the network and its normaliser are taken from the run, so that everything else may be set.
Player player_that_fits(const RunPlan& plan, const Checkpoint& checkpoint,
                        const ComparisonArgs& args) {
  try {
    return player_of(plan, checkpoint);
  } catch (const DataError& error) {
    const std::vector<std::string> set = shaping(args);
    if (set.empty()) { throw; }
    throw UsageError(
        fmt::format("--set {}: the network of {} was not trained with it, and its weights have the "
                    "shape of what "
                    "it was ({}). Leave it as the run had it, or train a set network, which takes "
                    "any number of "
                    "customers: --set net.kind=transformer --set net.places=false",
                    fmt::join(set, " "), args.run, error.what()));
  }
}

std::size_t threads_of(const ComparisonArgs& args) {
  return args.threads > 0 ? static_cast<std::size_t>(args.threads) : available_cores();
}

}  // namespace

PolicyComparison::PolicyComparison(const ComparisonArgs& args, const Catalog& catalog)
    : options_(args.options),
      pool_({.num_threads = threads_of(args), .on_start = use_one_torch_thread}) {
  const Settings settings = settings_of(args);
  config_ = config_of(settings);
  setup_ = playground_of(config_, args);
  const std::vector<std::string> names = words_of(args.policies);
  if (names.empty()) { throw UsageError("--policies: name at least one, as in null,max"); }
  if (!options_.versus.empty() && std::ranges::find(names, options_.versus) == names.end()) {
    throw UsageError("--versus " + options_.versus + ": not one of --policies");
  }
  if (args.reference.empty()) { options_.reference_days = 0; }
  for (const std::string& name : names) { add_policy(name, args, settings, catalog); }
  pool_.use(pool_.size());
  options_.workers = pool_.size();
}

void PolicyComparison::add_policy(const std::string& name, const ComparisonArgs& args,
                                  const Settings& settings, const Catalog& catalog) {
  if (name != "ppo") {
    make_offer_policy(name);
    policies_.push_back({name, [name](std::size_t) { return make_offer_policy(name); }});
    return;
  }
  if (args.run.empty()) {
    throw UsageError("--policies ppo: the run directory is missing; name it after eval or report");
  }
  RunDir dir(args.run, RunDir::Open::read);
  plan_ = std::make_unique<RunPlan>(settings, catalog);
  const Checkpoint checkpoint =
      chosen_checkpoint(dir, "latest", CheckpointPart::policy, print_note);
  const Player learnt = player_that_fits(*plan_, checkpoint, args);
  policies_.push_back({name, [this, model = learnt.model](std::size_t) {
                         return make_learnt_policy(config_, model);
                       }});
}

Evaluation PolicyComparison::play() { return evaluate_offers(setup_, policies_, pool_, options_); }

Bound PolicyComparison::bound() { return bound_of(setup_, pool_, options_); }

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) { words.push_back(word); }
  return words;
}

namespace {

void add_reference_options(Options& verb, ComparisonArgs& args) {
  args.options.reference_days = 20;
  verb.add("--reference", args.reference,
           "pyvrp: PyVRP solves the final plans again, and both costs are printed")
      .one_of({"pyvrp"});
  verb.add("--reference-days", args.options.reference_days,
           "days of each policy that the reference solves (default 20)")
      .within(1, 1'000'000);
  verb.add("--reference-seconds", args.options.reference.seconds,
           "seconds of the reference for a day (default 1)")
      .within(0.01, 3600.0);
  verb.add("--python", args.options.reference.python,
           "the interpreter that has PyVRP (default python3)");
}

}  // namespace

void add_key_options(Options& verb, ComparisonArgs& args) {
  DvrptwConfig config;
  const std::vector<std::string> taken = verb.spellings();
  for (const Field& field : fields_of(config, "env.")) {
    const std::string flag = flag_of(field.path);
    if (std::ranges::find(taken, flag) != taken.end()) { continue; }
    verb.add(flag, args.keys[field.path], field.doc + " [" + field.path + "]");
  }
}

void add_comparison_options(Options& verb, ComparisonArgs& args) {
  verb.add("run_dir", args.run, "the run whose network is the policy ppo");
  verb.add("--policies", args.policies,
           "some of null, random, random-masked, myopic, myopic-known, myopic-bayes, max, ppo")
      .show_default();
  verb.add("--episodes", args.options.days, "days to play").within(1, 10'000'000).show_default();
  verb.add("--days", args.days_per_stay,
           "days for which the same people book; without it env.stay_days, or 10 when they "
           "stay for ever")
      .within(1, 1'000'000);
  verb.add("--seed", args.options.seed, "seed of days, people and answers (default 0)");
  verb.add_repeated(
      "--set", args.assignments,
      "set any key for the evaluation, but for those that the shape of the network depends on: "
      "--set env.vehicles=3 (may be repeated)");
  verb.add("--threads", args.threads, "threads; without it, all cores").within(1, 1024);
  add_reference_options(verb, args);
}

}  // namespace penstock::booking
