#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "domains/booking/cli/policy_comparison.h"
#include "domains/booking/cli/verbs.h"
#include "penstock/core/store/journal.h"
#include "penstock/domains/booking/compare/report.h"

namespace penstock::booking {
namespace {

struct ReportArgs {
  ComparisonArgs comparison;
  std::string out;
  std::string shown;     // empty: the network, or the exact belief's myopic one
  std::int64_t day = 0;  // from 1; 0: the last of the first stay, when people are known best
};

std::string setting_text(const DvrptwConfig& config, const EvaluationOptions& options,
                         const ReportArgs& args) {
  return fmt::format(
      "{} requests a day ({}), {} vehicles, generator {}; offers {} windows, answers by {}, "
      "planned "
      "by {}. A minute given costs {} km, a refusal {} km{}. Seed {}{}.",
      config.customers, config.mode, config.vehicles, config.generator,
      rules_of(config).offer == OfferKind::shift ? "shift" : "widen", config.answer, config.oracle,
      config.rho, config.rejection,
      unit_of(config.generator) == CostUnit::seconds
          ? "; the days know driving time alone, so that a km counts as 2.5 minutes of it"
          : "",
      options.seed,
      args.comparison.run.empty() ? "" : "; ppo is the network of " + args.comparison.run);
}

/// Null is always compared with, the network whenever there is one.
void complete(ReportArgs& args) {
  ComparisonArgs& comparison = args.comparison;
  if (comparison.policies.empty()) {
    comparison.policies =
        comparison.run.empty() ? "null,random,myopic-bayes,max" : "null,myopic-bayes,max,ppo";
  }
  const std::vector<std::string> names = words_of(comparison.policies);
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (args.shown.empty()) {
    args.shown = has("ppo") ? "ppo" : has("myopic-bayes") ? "myopic-bayes" : names.back();
  }
  if (!has("null")) { comparison.policies = "null," + comparison.policies; }
  if (!has(args.shown.c_str()) && args.shown != "null") {
    throw UsageError("--show " + args.shown + ": not one of --policies");
  }
  comparison.options.versus = "null";
}

Exit report(ReportArgs args, const Catalog& catalog) {
  complete(args);
  PolicyComparison comparison(args.comparison, catalog);
  EvaluationOptions& options = comparison.options();
  if (args.day > options.days) {
    throw UsageError(
        fmt::format("--day {}: only {} are played; see --episodes", args.day, options.days));
  }
  const std::int64_t day =
      (args.day > 0 ? args.day : std::min(comparison.setup().days_per_stay, options.days)) - 1;
  options.shown_day = day;
  const Evaluation found = comparison.play();
  const Bound bound = comparison.bound();
  replace_text(args.out,
               report_html({.evaluation = found,
                            .bound = bound,
                            .rules = comparison.setup().rules,
                            .shown = args.shown,
                            .day = day,
                            .setting = setting_text(comparison.config(), options, args)}));
  fmt::print("{}report {}\n", found.text(), args.out);
  return Exit::ok;
}

}  // namespace

Verb report_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<ReportArgs>();
  args->comparison.options.days = 100;
  Options& verb = app.add_command(
      "report", "one page of a comparison: table, route map, timetables, offers and their prices");
  verb.add("--out", args->out, "page to write, as report.html").required();
  add_comparison_options(verb, args->comparison);
  verb.add("--show", args->shown, "policy that is shown; without it ppo, else myopic-bayes");
  verb.add("--day", args->day,
           "day that is drawn, from 1; without it, the last day of the first people")
      .within(1, 10'000'000);
  add_key_options(verb, args->comparison);
  return {&verb, [args, &catalog] { return report(*args, catalog); }};
}

}  // namespace penstock::booking
