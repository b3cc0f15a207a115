#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/thread_pool.h"
#include "penstock/domains/cage2/search/games.h"
#include "penstock/domains/cage2/search/report.h"
#include "penstock/domains/cage2/search/synthetic.h"
#include "penstock/domains/cage2/workflow/workflow.h"

namespace penstock::cage2 {
namespace {

struct SearchArgs {
  SearchOptions options;
  Synthetic synthetic;
  std::string workers = "auto";
  std::string beta = "auto";
  std::string rule = "B";
  bool json = false;
  bool keep_runs = false;
  Settings changes;  // of every training
};

double number_of(const std::string& flag, const std::string& text) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) { used = 0; }
  if (used == 0 || used != text.size() || !std::isfinite(value)) {
    throw UsageError(fmt::format("{} {}: expected a number or auto", flag, text));
  }
  return value;
}

int workers_of(const std::string& text) {
  if (text == "auto") { return static_cast<int>(available_cores()); }
  const double value = number_of("--workers", text);
  if (value != std::floor(value) || std::abs(value) > 1e6) {
    throw UsageError(fmt::format("--workers {}: expected a whole number or auto", text));
  }
  return static_cast<int>(value);
}

/// Keys that the search sets by itself, and by which of its flags.
std::string flag_of(const std::string& key) {
  if (key == "env.order") { return "the search chooses orders"; }
  if (key == "env.red") { return "use --red"; }
  if (key == "env.rules") { return "use --rules"; }
  if (key == "env.compliance_rule") { return "use --compliance-rule"; }
  if (key == "env.num_envs") { return "use --n-envs"; }
  if (key == "rollout.steps") { return "use --update-every-steps"; }
  if (key == "seed") { return "use --seed"; }
  return "";
}

std::vector<std::string> texts_of(const Settings& changes) {
  std::vector<std::string> texts;
  for (const Setting& change : changes.all()) {
    const std::string flag = flag_of(change.path);
    if (!flag.empty()) { throw UsageError(fmt::format("--set {}: {}", change.path, flag)); }
    texts.push_back(fmt::format("{}={}", change.path, change.text));
  }
  return texts;
}

SearchOptions options_of(const SearchArgs& args) {
  SearchOptions options = args.options;
  options.settings = texts_of(args.changes);
  options.job.compliance_rule = args.rule.front();
  if (args.beta != "auto") { options.beta = number_of("--beta", args.beta); }
  options.workers = workers_of(args.workers);
  if (options.out.empty()) { options.out = "runs/cage2-search-" + options.job.red; }
  return options;
}

void tell(const WorkflowJob& job, const WorkflowResult& r) {
  const std::string what = job.conditioned ? order_text(r.order) : "without an order";
  fmt::print(stderr,
             "{:<55} {:9.2f} ± {:<6.2f} worth {:9.2f} compliance {:5.1f} %, of lost hosts {:5.1f} "
             "%, {:4.1f} fixes{}\n",
             what, r.mean_return, r.std_error, r.worth, 100 * r.compliance, 100 * r.lost_compliance,
             r.fixes, r.compliant ? "" : ", does not comply");
}

void print_regret(const Regret& regret) {
  fmt::print("regret of this search {:.2f}", regret.own.back());
  if (!regret.search.empty()) {
    const Interval& s = regret.search.back();
    const Interval& r = regret.random.back();
    fmt::print(
        "; over {} repetitions {:.2f} ({:.2f} to {:.2f}), random search {:.2f} ({:.2f} to {:.2f})",
        regret.search_final.size(), s.mean, s.low, s.high, r.mean, r.low, r.high);
  }
  fmt::print("\n");
}

/// Orders that cannot be told apart, as one.
void print_games(const SearchOptions& options, const SearchResult& result) {
  const TypeSet at_risk = types_at_risk(options);
  fmt::print(
      "against {} the 120 orders are {} games, by which types red ever takes; orders of one game "
      "differ by training noise alone",
      options.job.red, num_games(at_risk));
  fmt::print("{}\n", options.all_orders ? ":" : ", and one of each is tried");
  if (!options.all_orders) { return; }
  for (const GameRow& row : games_of(result.measured, at_risk)) {
    fmt::print("  {:<55} {:9.2f}, {:.2f} to {:.2f} of {} order{}, {} compliant\n",
               order_text(row.order), row.mean, row.least, row.most, row.num_orders,
               row.num_orders == 1 ? "" : "s", row.num_compliant);
  }
}

void print_noise(const Noise& noise) {
  if (noise.freedom == 0) {
    fmt::print("no order was trained twice (--seeds): what a training seed changes is not known\n");
    return;
  }
  fmt::print("trainings of one order differ by a standard deviation of {:.2f}\n",
             std::sqrt(noise.variance));
}

void print_ranking(const SearchResult& result) {
  for (const int place : result.ranking) {
    const Measured& order = result.measured[place];
    const WorkflowResult& r = order.result;
    fmt::print("  {:<55} {:9.2f} ± {:<6.2f} {} run{}, compliance {:.1f} %{}\n", order_text(r.order),
               r.mean_return, half_width(r, result.noise), order.runs.size(),
               order.runs.size() == 1 ? "" : "s", 100 * r.compliance,
               r.compliant ? "" : ", does not comply");
  }
}

void print_truth(const GroundTruth& truth) {
  if (!truth.regret) { return; }
  const Measured& top = truth.all[truth.best];
  fmt::print("by {} fresh training seeds of each order: best {}, {:.2f}; ", top.runs.size(),
             order_text(top.result.order), top.result.mean_return);
  if (truth.rank_of_best > 0) {
    fmt::print("the search's best is number {} of {}\n", truth.rank_of_best, truth.all.size());
  } else {
    fmt::print("the search's best does not count\n");
  }
  print_regret(*truth.regret);
}

void print_text(const SearchOptions& options, const SearchResult& result) {
  if (result.best) {
    const WorkflowResult& r = result.measured[*result.best].result;
    fmt::print("best of {}: {}, {:.2f} ± {:.2f} (95 %), compliance {:.1f} %\n",
               result.measured.size(), order_text(r.order), r.mean_return,
               half_width(r, result.noise), 100 * r.compliance);
  } else {
    fmt::print("none of {} orders complied\n", result.measured.size());
  }
  print_ranking(result);
  print_noise(result.noise);
  if (result.truth) { print_truth(*result.truth); }
  print_games(options, result);
  fmt::print("{}/report.html\n", options.out);
}

namespace fs = std::filesystem;

fs::path run_of(const SearchOptions& options, const WorkflowJob& job) {
  return fs::path(options.out) / "runs" / run_name(job);
}

/// Trains where the policy can be found again; what a killed search left there half done is not.
WorkflowResult train_anew(const SearchArgs& args, const SearchOptions& options,
                          const WorkflowJob& job) {
  const fs::path dir = run_of(options, job);
  fs::remove_all(dir);
  return train_workflow(job, {.changes = args.changes, .dir = dir.string()});
}

/// The best order's runs, trained again if an earlier search threw them away. The others go unless
/// they are to be kept.
std::set<fs::path> kept_runs(const SearchArgs& args, const SearchOptions& options,
                             const SearchResult& result) {
  std::set<fs::path> best;
  if (result.best) {
    const Measured& order = result.measured[*result.best];
    for (int k = 0; k < static_cast<int>(std::ssize(order.runs)); ++k) {
      const WorkflowJob job = job_of(options, order.index, k);
      if (!fs::exists(run_of(options, job))) { train_anew(args, options, job); }
      best.insert(run_of(options, job));
    }
  }
  const fs::path runs = fs::path(options.out) / "runs";
  if (args.keep_runs || !fs::exists(runs)) { return best; }
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs)) {
    if (!best.contains(entry.path())) { others.push_back(entry.path()); }
  }
  for (const fs::path& other : others) { fs::remove_all(other); }
  return best;
}

Exit run(const SearchArgs& args) {
  SearchOptions options = options_of(args);
  if (!args.json) { options.on_result = tell; }
  const bool real = options.evaluator == "ppo";
  const SearchResult result = run_search(options, real ? Evaluate([&](const WorkflowJob& job) {
                                           return train_anew(args, options, job);
                                         })
                                                       : Evaluate(args.synthetic));
  write_results(options.out, options, result);
  const std::set<fs::path> policies =
      real ? kept_runs(args, options, result) : std::set<fs::path>{};
  if (args.json) {
    fmt::print("{}\n", summary_json(options, result));
  } else {
    print_text(options, result);
    for (const fs::path& policy : policies) {
      fmt::print("a policy of the best order: {}\n", policy.string());
    }
  }
  return Exit::ok;
}

/// What a training is.
void add_job(Options& verb, SearchArgs& args) {
  WorkflowJob& job = args.options.job;
  verb.add("--red", job.red, "the attacker: bline, meander, sleep or mix").show_default();
  verb.add("--rules", job.rules, "rules of the game: head or leaderboard").show_default();
  verb.add("--n-envs", job.n_envs, "envs of a training run").positive().show_default();
  verb.add("--train-episodes-per-env", job.train_episodes_per_env, "most episodes of each env")
      .positive()
      .show_default();
  verb.add("--compliance-threshold", job.compliance_threshold,
           "average compliance that ends a training run early; a run below it is left out of "
           "the fit")
      .within(0.0, 1.0)
      .show_default();
  verb.add("--min-episodes-per-env", job.min_episodes_per_env,
           "episodes that each env must have had before a training may end early")
      .positive()
      .show_default();
  verb.add("--update-every-steps", job.update_every_steps, "steps of each env per update")
      .positive()
      .show_default();
  verb.add("--compliance-rule", args.rule, "rule of compliance: A or B")
      .one_of({"A", "B"})
      .show_default();
  verb.add("--eval-episodes", job.eval_episodes, "episodes played with the trained policy")
      .within(2, 1000000)
      .show_default();
  verb.add("--seed", args.options.seed, "seed of everything random (default 0)");
}

/// How orders are picked.
void add_search(Options& verb, SearchOptions& options, SearchArgs& args) {
  verb.add("--n-workflows", options.num_workflows, "evaluations of orders").show_default();
  verb.add("--seeds", options.num_seeds,
           "trainings of an evaluation, each with a seed of its own; their spread is the noise")
      .positive()
      .show_default();
  verb.add_flag("--all-orders", options.all_orders,
                "search all 120 orders, none twice; else one order of each game, the promising "
                "again");
  verb.add("--initial", options.num_initial,
           "evaluations before anything is learnt from, of orders far apart from each other")
      .show_default();
  verb.add("--batch", options.batch, "orders picked at a time").show_default();
  verb.add("--beta", args.beta,
           "beta of the upper bounds mean + sqrt(beta) std; auto: it grows with time")
      .show_default();
  verb.add_flag("!--any-compliance", options.only_compliant, "count orders that do not comply too");
  verb.add_flag("!--blind-to-compliance", options.learn_compliance,
                "do not learn which orders rarely comply");
}

void add_rest(Options& verb, SearchOptions& options, SearchArgs& args) {
  verb.add_flag("!--no-baselines", options.baselines,
                "leave out random search, fixed orders and PPO without an order");
  verb.add_flag("--exhaustive", options.exhaustive,
                "train every order with seeds that no search uses, and measure regret by them");
  verb.add("--truth-seeds", options.truth_seeds, "trainings of each order for that")
      .positive()
      .show_default();
  verb.add("--repetitions", options.repetitions,
           "repetitions of search and random search for the regret, with training seeds of their "
           "own")
      .show_default();
  verb.add("--pool", options.pool,
           "repetitions draw from as many trainings of each order instead, none again before all: "
           "many repetitions for the trainings of a few; 0: seeds of their own")
      .show_default();
  verb.add("--workers", args.workers, "trainings at a time, or auto; never changes results")
      .show_default();
  verb.add("--out", options.out,
           "folder for the journal, the tables and report.html (default runs/cage2-search-RED); a "
           "search that was killed goes on from the journal");
  verb.add_flag("--keep-runs", args.keep_runs,
                "keep the runs of every order in OUT/runs, not of the best alone");
  verb.add_repeated_call(
      "--set", [&args](const std::string& text) { args.changes.add_assignment(text, "--set"); },
      "change any key of the trainings: --set env.mask=order (may be repeated)");
  verb.add_flag("--json", args.json, "one line of JSON on stdout");
  // For tests and for looking at a report without training.
  verb.add("--evaluator", options.evaluator, "").one_of({"ppo", "synthetic"}).hide();
  verb.add("--synthetic-delay", args.synthetic.delay_s, "").hide();
  verb.add("--synthetic-landscape", args.synthetic.landscape, "").hide();
}

}  // namespace

Verb search_verb(Options& app) {
  auto args = std::make_shared<SearchArgs>();
  Options& verb = app.add_command("search", "look for the best order of unit types to defend by");
  add_job(verb, *args);
  add_search(verb, args->options, *args);
  add_rest(verb, args->options, *args);
  return {&verb, [args] { return run(*args); }};
}

}  // namespace penstock::cage2
