#include <fmt/format.h>

#include <memory>

#include "domains/booking/cli/policy_comparison.h"
#include "domains/booking/cli/verbs.h"

namespace penstock::booking {
namespace {

struct EvalArgs {
  ComparisonArgs comparison;
  bool json = false;
};

Exit eval(const EvalArgs& args, const Catalog& catalog) {
  const Evaluation found = PolicyComparison(args.comparison, catalog).play();
  fmt::print("{}{}", args.json ? found.json() : found.text(), args.json ? "\n" : "");
  return Exit::ok;
}

}  // namespace

Verb eval_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<EvalArgs>();
  ComparisonArgs& comparison = args->comparison;
  comparison.policies = "null,random,random-masked,myopic,myopic-known,myopic-bayes,max";
  Options& verb = app.add_command("eval", "compare policies on the same days, people and answers");
  add_comparison_options(verb, comparison);
  verb.add("--versus", comparison.options.versus,
           "policy that the others are compared with; without it, the first");
  verb.add("--audit", comparison.options.audit_share,
           "share of the steps that rr-1000 solves again; the gap and wrong signs are printed")
      .within(0.0, 1.0);
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  add_key_options(verb, comparison);
  return {&verb, [args, &catalog] { return eval(*args, catalog); }};
}

}  // namespace penstock::booking
