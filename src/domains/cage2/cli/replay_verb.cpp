#include <fmt/format.h>

#include <memory>

#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/text.h"
#include "penstock/domains/cage2/sim/replay.h"

namespace penstock::cage2 {
namespace {

struct ReplayArgs {
  std::string folder;
  bool json = false;
};

void print_text(const ReplayReport& report) {
  fmt::print(
      "{} steps of {} episodes in {} files: {} observations, {} rewards and {} read-outs differ\n",
      report.steps, report.episodes, report.files, report.observation_mismatches,
      report.reward_mismatches, report.field_mismatches);
  for (const std::string& example : report.examples) { fmt::print("  {}\n", printable(example)); }
}

void print_json(const ReplayReport& report) {
  const OrderedJson line = {{"steps", report.steps},
                            {"episodes", report.episodes},
                            {"files", report.files},
                            {"observation_mismatches", report.observation_mismatches},
                            {"reward_mismatches", report.reward_mismatches},
                            {"field_mismatches", report.field_mismatches},
                            {"examples", report.examples}};
  fmt::print("{}\n", to_text(line));
}

/// Fails when what Blue sees or is paid differs.
Exit replay(const ReplayArgs& args) {
  const ReplayReport report = replay_folder(args.folder);
  if (args.json) {
    print_json(report);
  } else {
    print_text(report);
  }
  return report.observation_mismatches + report.reward_mismatches == 0 ? Exit::ok : Exit::failed;
}

}  // namespace

Verb replay_verb(Options& app) {
  auto args = std::make_shared<ReplayArgs>();
  Options& verb = app.add_command(
      "replay", "play recordings of the real simulator again and compare every step");
  verb.add("folder", args->folder,
           "RED-POLICY-STEPS.npz files; those in lb/ and dbg/ are of the leader board's day "
           "and of CybORG++")
      .required();
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args] { return replay(*args); }};
}

}  // namespace penstock::cage2
