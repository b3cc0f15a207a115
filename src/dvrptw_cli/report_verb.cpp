#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "dvrptw_cli/contest.h"
#include "dvrptw_cli/verbs.h"
#include "penstock/routing_report/report.h"
#include "penstock/store/journal.h"

namespace penstock::routing {
namespace {

struct ReportArgs {
  ContestArgs contest;
  std::string out;
  std::string shown;     // empty: the network, or the exact belief's myopic one
  std::int64_t day = 0;  // from 1; 0: the last of the first stay, when people are known best
};

std::string setting_text(const DvrptwConfig& config, const EvaluationOptions& options,
                         const ReportArgs& args) {
  return fmt::format(
      "{} requests a day ({}), {} vehicles, generator {}; offers {} windows, answers by {}, "
      "planned "
      "by {}. A minute given costs {} km, a refusal {} km. Seed {}{}.",
      config.customers, config.mode, config.vehicles, config.generator,
      rules_of(config).offer == OfferKind::shift ? "shift" : "widen", config.answer, config.oracle,
      config.rho, config.rejection, options.seed,
      args.contest.run.empty() ? "" : "; ppo is the network of " + args.contest.run);
}

/// Null is always compared with, the network whenever there is one.
void complete(ReportArgs& args) {
  ContestArgs& contest = args.contest;
  if (contest.policies.empty()) {
    contest.policies =
        contest.run.empty() ? "null,random,myopic-bayes,max" : "null,myopic-bayes,max,ppo";
  }
  const std::vector<std::string> names = words_of(contest.policies);
  const auto has = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (args.shown.empty()) {
    args.shown = has("ppo") ? "ppo" : has("myopic-bayes") ? "myopic-bayes" : names.back();
  }
  if (!has("null")) { contest.policies = "null," + contest.policies; }
  if (!has(args.shown.c_str()) && args.shown != "null") {
    throw UsageError("--show " + args.shown + ": must be one of --policies");
  }
  contest.options.versus = "null";
}

Exit report(ReportArgs args, const Catalog& catalog) {
  complete(args);
  Contest contest(args.contest, catalog);
  EvaluationOptions& options = contest.options();
  if (args.day > options.days) {
    throw UsageError(
        fmt::format("--day {}: only {} are played; see --episodes", args.day, options.days));
  }
  const std::int64_t day =
      (args.day > 0 ? args.day : std::min(contest.ground().days_per_stay, options.days)) - 1;
  options.shown_day = day;
  const Evaluation found = contest.play();
  const Bound bound = contest.bound();
  replace_text(args.out, report_html({.evaluation = found,
                                      .bound = bound,
                                      .rules = contest.ground().rules,
                                      .shown = args.shown,
                                      .day = day,
                                      .setting = setting_text(contest.config(), options, args)}));
  fmt::print("{}report {}\n", found.text(), args.out);
  return Exit::ok;
}

}  // namespace

Verb report_verb(CLI::App& app, const Catalog& catalog) {
  auto args = std::make_shared<ReportArgs>();
  args->contest.options.days = 100;
  CLI::App* verb = app.add_subcommand(
      "report", "one page of a comparison: table, route map, timetables, offers and their prices");
  verb->add_option("--out", args->out, "the page to write, as report.html")->required();
  add_contest_options(*verb, args->contest);
  verb->add_option("--show", args->shown,
                   "the policy that is looked at; without it ppo, else myopic-bayes");
  verb->add_option("--day", args->day,
                   "the day that is drawn, from 1; without it the last of the first people's stay")
      ->check(CLI::Range(1, 10'000'000));
  return {verb, [args, &catalog] { return report(*args, catalog); }};
}

}  // namespace penstock::routing
