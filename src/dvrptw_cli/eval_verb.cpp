#include <fmt/format.h>

#include <memory>

#include "dvrptw_cli/contest.h"
#include "dvrptw_cli/verbs.h"

namespace penstock::routing {
namespace {

struct EvalArgs {
  ContestArgs contest;
  bool json = false;
};

Exit eval(const EvalArgs& args, const Catalog& catalog) {
  const Evaluation found = Contest(args.contest, catalog).play();
  fmt::print("{}{}", args.json ? found.json() : found.text(), args.json ? "\n" : "");
  return Exit::ok;
}

}  // namespace

Verb eval_verb(CLI::App& app, const Catalog& catalog) {
  auto args = std::make_shared<EvalArgs>();
  ContestArgs& contest = args->contest;
  contest.policies = "null,random,random-masked,myopic,myopic-known,myopic-bayes,max";
  CLI::App* verb =
      app.add_subcommand("eval", "compare policies on the same days, people and answers");
  add_contest_options(*verb, contest);
  verb->add_option("--versus", contest.options.versus,
                   "whom the others are compared with; without it, the first");
  verb->add_option("--audit", contest.options.audit_share,
                   "share of the steps that rr-1000 solves again: the gap and wrong signs are told")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_flag("--json", args->json, "one line of JSON on stdout");
  return {verb, [args, &catalog] { return eval(*args, catalog); }};
}

}  // namespace penstock::routing
