#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>

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

SearchOptions options_of(const SearchArgs& args) {
  SearchOptions options = args.options;
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
  const TypeSet at_risk = types_at_risk(options.job);
  fmt::print(
      "against {} the 120 orders are {} games, by which types red ever takes; orders of one game "
      "differ by training noise alone:\n",
      options.job.red, num_games(at_risk));
  for (const GameRow& row : games_of(result.trials, at_risk)) {
    fmt::print("  {:<55} {:9.2f}, {:.2f} to {:.2f} of {} order{}, {} compliant\n",
               order_text(row.order), row.mean, row.least, row.most, row.num_orders,
               row.num_orders == 1 ? "" : "s", row.num_compliant);
  }
}

void print_text(const SearchOptions& options, const SearchResult& result) {
  if (result.best) {
    const WorkflowResult& r = result.trials[*result.best].result;
    fmt::print("best of {}: {}, {:.2f} ± {:.2f}, compliance {:.1f} %\n", result.trials.size(),
               order_text(r.order), r.mean_return, r.std_error, 100 * r.compliance);
  } else {
    fmt::print("none of {} orders complied\n", result.trials.size());
  }
  if (result.truth && result.truth->regret) { print_regret(*result.truth->regret); }
  print_games(options, result);
  fmt::print("{}/report.html\n", options.out);
}

namespace fs = std::filesystem;

fs::path run_of(const SearchOptions& options, const WorkflowJob& job) {
  return fs::path(options.out) / "runs" / run_name(job);
}

/// Trains where the policy can be found again; what a killed search left there half done is not.
WorkflowResult train_anew(const SearchOptions& options, const WorkflowJob& job) {
  const fs::path dir = run_of(options, job);
  fs::remove_all(dir);
  return train_workflow(job, {.changes = {}, .dir = dir.string()});
}

/// The best order's run, trained again if an earlier search threw it away. The others go unless
/// they are to be kept.
std::string kept_run(const SearchOptions& options, const SearchResult& result, bool keep_all) {
  std::string best;
  if (result.best) {
    const WorkflowJob job = job_of(options, result.trials[*result.best].index);
    best = run_of(options, job).string();
    if (!fs::exists(best)) { train_anew(options, job); }
  }
  const fs::path runs = fs::path(options.out) / "runs";
  if (keep_all || !fs::exists(runs)) { return best; }
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs)) {
    if (entry.path() != best) { others.push_back(entry.path()); }
  }
  for (const fs::path& other : others) { fs::remove_all(other); }
  return best;
}

Exit run(const SearchArgs& args) {
  SearchOptions options = options_of(args);
  if (!args.json) { options.on_result = tell; }
  const bool real = options.evaluator == "ppo";
  const SearchResult result = run_search(
      options, real ? Evaluate([&](const WorkflowJob& job) { return train_anew(options, job); })
                    : Evaluate(args.synthetic));
  write_results(options.out, options, result);
  const std::string policy = real ? kept_run(options, result, args.keep_runs) : "";
  if (args.json) {
    fmt::print("{}\n", summary_json(options, result));
  } else {
    print_text(options, result);
    if (!policy.empty()) { fmt::print("the best order's policy: {}\n", policy); }
  }
  return Exit::ok;
}

/// What an evaluation is.
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
  verb.add("--n-workflows", options.num_workflows, "orders to evaluate, of 120").show_default();
  verb.add("--initial", options.num_initial,
           "orders that are evaluated first, far apart from each other")
      .show_default();
  verb.add("--batch", options.batch, "orders picked at a time").show_default();
  verb.add("--beta", args.beta,
           "beta of the upper bounds mean + sqrt(beta) std; auto: it grows with time")
      .show_default();
  verb.add_flag("--fit-noise", options.fit_noise, "fit one more variance of all evaluations");
  verb.add_flag("!--any-compliance", options.only_compliant, "count runs that do not comply too");
  verb.add_flag("!--blind-to-compliance", options.learn_compliance,
                "do not learn which orders rarely comply");
}

void add_rest(Options& verb, SearchOptions& options, SearchArgs& args) {
  verb.add_flag("!--no-baselines", options.baselines,
                "leave out random search, fixed orders and PPO without an order");
  verb.add_flag("--exhaustive", options.exhaustive, "evaluate all 120 orders and measure regret");
  verb.add("--repetitions", options.repetitions,
           "repetitions of search and random search, for the regret")
      .show_default();
  verb.add_flag(
      "--retrain", options.retrain,
      "repetitions train anew instead of looking results up in the exhaustive evaluation");
  verb.add("--workers", args.workers, "evaluations at a time, or auto; never changes results")
      .show_default();
  verb.add("--out", options.out,
           "folder for the journal, the tables and report.html (default runs/cage2-search-RED); a "
           "search that was killed goes on from the journal");
  verb.add_flag("--keep-runs", args.keep_runs,
                "keep the run of every order in OUT/runs, not of the best alone");
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
