#include "domains/cage2/cli/verbs.h"

namespace penstock::cage2 {
namespace {

void add_policy_options(Options& verb, BlueChoice& blue) {
  verb.add("--checkpoint", blue.checkpoint, "checkpoint of the run: latest, best or a step")
      .show_default();
  verb.add_flag("--sampled", blue.sampled, "sample actions instead of taking the most likely one");
}

}  // namespace

Source source_of(const std::string& rules) {
  if (rules == "leaderboard") { return Source::leaderboard; }
  return rules == "debugged" ? Source::debugged : Source::head;
}

void add_run_options(Options& verb, BlueChoice& run) {
  verb.add("run_dir", run.name, "the run directory").required();
  add_policy_options(verb, run);
}

void add_blue_options(Options& verb, BlueChoice& blue) {
  verb.add("--blue", blue.name,
           "the defender: sleep, random, react, decoy_first, or the directory of a run of "
           "cage2_defender or cage2")
      .show_default();
  add_policy_options(verb, blue);
}

}  // namespace penstock::cage2
