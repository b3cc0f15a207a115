#include <fmt/format.h>

#include <memory>

#include "cage2_cli/verbs.h"
#include "penstock/base/thread_pool.h"
#include "penstock/cage2_search/report.h"
#include "penstock/cage2_search/synthetic.h"

namespace penstock::cage2 {
namespace {

struct SearchArgs {
  SearchOptions options;
  Synthetic synthetic;
  std::string workers = "auto";
  std::string beta = "auto";
  std::string rule = "B";
  bool json = false;
};

double number_of(const std::string& flag, const std::string& text) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) { used = 0; }
  if (used == 0 || used != text.size()) {
    throw UsageError(fmt::format("{} {}: a number or auto", flag, text));
  }
  return value;
}

SearchOptions options_of(const SearchArgs& args) {
  SearchOptions options = args.options;
  options.job.compliance_rule = args.rule.front();
  if (args.beta != "auto") { options.beta = number_of("--beta", args.beta); }
  options.workers = args.workers == "auto" ? static_cast<int>(available_cores())
                                           : static_cast<int>(number_of("--workers", args.workers));
  if (options.out.empty()) { options.out = "runs/cage2-search-" + options.job.red; }
  return options;
}

void tell(const WorkflowJob& job, const WorkflowResult& r) {
  const std::string what = job.conditioned ? order_text(r.order) : "without an order";
  fmt::print(stderr, "{:<55} {:9.2f} ± {:<6.2f} compliance {:5.1f} %{}\n", what, r.mean_return,
             r.std_error, 100 * r.compliance, r.compliant ? "" : ", does not comply");
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

void print_text(const SearchOptions& options, const SearchResult& result) {
  if (result.best) {
    const WorkflowResult& r = result.trials[*result.best].result;
    fmt::print("best of {}: {}, {:.2f} ± {:.2f}, compliance {:.1f} %\n", result.trials.size(),
               order_text(r.order), r.mean_return, r.std_error, 100 * r.compliance);
  } else {
    fmt::print("none of {} orders complied\n", result.trials.size());
  }
  if (result.truth && result.truth->regret) { print_regret(*result.truth->regret); }
  fmt::print("{}/report.html\n", options.out);
}

Exit run(const SearchArgs& args) {
  SearchOptions options = options_of(args);
  if (!args.json) { options.on_result = tell; }
  const bool real = options.evaluator == "ppo";
  const SearchResult result = run_search(
      options, real ? Evaluate([](const WorkflowJob& job) { return train_workflow(job); })
                    : Evaluate(args.synthetic));
  write_results(options.out, options, result);
  if (args.json) {
    fmt::print("{}\n", summary_json(options, result));
  } else {
    print_text(options, result);
  }
  return Exit::ok;
}

/// What an evaluation is.
void add_job(CLI::App& verb, SearchArgs& args) {
  WorkflowJob& job = args.options.job;
  verb.add_option("--red", job.red, "the attacker: bline, meander, sleep or mix")
      ->capture_default_str();
  verb.add_option("--rules", job.rules, "head or leaderboard")->capture_default_str();
  verb.add_option("--n-envs", job.n_envs, "envs of a training run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--train-episodes-per-env", job.train_episodes_per_env, "at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--compliance-threshold", job.compliance_threshold,
                  "average compliance that ends a training run early; below it a run is kept out "
                  "of the fit")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  verb.add_option("--update-every-steps", job.update_every_steps, "of each env")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--compliance-rule", args.rule, "A or B")
      ->check(CLI::IsMember({"A", "B"}))
      ->capture_default_str();
  verb.add_option("--eval-episodes", job.eval_episodes, "played with the trained policy")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  verb.add_option("--seed", args.options.seed, "of everything (default 0)");
}

/// How orders are picked.
void add_search(CLI::App& verb, SearchOptions& options, SearchArgs& args) {
  verb.add_option("--n-workflows", options.num_workflows, "orders to evaluate, of 120")
      ->capture_default_str();
  verb.add_option("--initial", options.num_initial, "of them, far apart before anything is known")
      ->capture_default_str();
  verb.add_option("--batch", options.batch, "picks between two looks at the results")
      ->capture_default_str();
  verb.add_option("--beta", args.beta,
                  "of the upper bounds mean + sqrt(beta) std, or auto: it grows with time")
      ->capture_default_str();
  verb.add_flag("--fit-noise", options.fit_noise, "fit one more variance of all evaluations");
  verb.add_flag("!--any-compliance", options.only_compliant, "count runs that do not comply too");
  verb.add_flag("!--blind-to-compliance", options.learn_compliance,
                "do not learn which orders hardly comply");
}

void add_rest(CLI::App& verb, SearchOptions& options, SearchArgs& args) {
  verb.add_flag("!--no-baselines", options.baselines,
                "leave out random search, fixed orders and PPO without an order");
  verb.add_flag("--exhaustive", options.exhaustive, "evaluate all 120 orders and measure regret");
  verb.add_option("--repetitions", options.repetitions,
                  "of search and random search, for the regret")
      ->capture_default_str();
  verb.add_flag(
      "--retrain", options.retrain,
      "repetitions train anew instead of looking results up in the exhaustive evaluation");
  verb.add_option("--workers", args.workers, "evaluations at a time, or auto; changes no result")
      ->capture_default_str();
  verb.add_option(
      "--out", options.out,
      "a folder for the journal, the tables and report.html, runs/cage2-search-RED if not "
      "told; a search that was killed goes on from the journal");
  verb.add_flag("--json", args.json, "one line of JSON on stdout");
  // For tests and for looking at a report without training.
  verb.add_option("--evaluator", options.evaluator)
      ->check(CLI::IsMember({"ppo", "synthetic"}))
      ->group("");
  verb.add_option("--synthetic-delay", args.synthetic.delay_s)->group("");
  verb.add_option("--synthetic-landscape", args.synthetic.landscape)->group("");
}

}  // namespace

Verb search_verb(CLI::App& app) {
  auto args = std::make_shared<SearchArgs>();
  CLI::App* verb =
      app.add_subcommand("search", "look for the best order of unit types to defend by");
  add_job(*verb, *args);
  add_search(*verb, args->options, *args);
  add_rest(*verb, args->options, *args);
  return {verb, [args] { return run(*args); }};
}

}  // namespace penstock::cage2
