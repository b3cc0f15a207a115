#include "domains/cage2/cli/verbs.h"

namespace penstock::cage2 {
namespace {

void add_policy_options(Options& verb, BlueChoice& blue) {
  verb.add("--checkpoint", blue.checkpoint, "checkpoint of the run: latest, best or a step")
      .show_default();
  verb.add("--order", blue.order,
           "order of repairs that a run of cage2_workflow keeps, as "
           "op_server,enterprise,op_host,user,defender (default: its own)");
  verb.add_flag("--sampled", blue.sampled, "sample actions instead of taking the most likely one");
}

}  // namespace

void add_run_options(Options& verb, BlueChoice& run) {
  verb.add("run_dir", run.name, "the run directory").required();
  add_policy_options(verb, run);
}

void add_blue_options(Options& verb, BlueChoice& blue) {
  verb.add("--blue", blue.name,
           "the defender: sleep, random, react, decoy_first, or the directory of a run of "
           "cage2_defender, cage2_workflow or cage2")
      .show_default();
  add_policy_options(verb, blue);
}

}  // namespace penstock::cage2
