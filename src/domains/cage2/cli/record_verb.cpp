#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "domains/cage2/cli/files.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/sim/record.h"
#include "penstock/domains/cage2/sim/replay.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

struct RecordArgs {
  BlueChoice blue;
  std::string red = "bline";
  std::string rules = "head";
  std::string out = "recordings";
  std::int64_t episodes = 20;
  std::int64_t steps = 100;
  std::uint64_t seed = 0;
  bool json = false;
};

/// RED-POLICY-STEPS.npz in the folder that replay looks for it.
fs::path file_of(const RecordArgs& args) {
  std::string policy = fs::path(args.blue.name).lexically_normal().filename().string();
  if (policy.empty()) { policy = "run"; }
  std::ranges::replace(policy, '-', '_');
  fs::path folder(args.out);
  if (args.rules == "leaderboard") { folder /= "lb"; }
  if (args.rules == "dbg") { folder /= "dbg"; }
  return folder / fmt::format("{}-{}-{}.npz", args.red, policy, args.steps);
}

void play_recorded(const RecordArgs& args, Blue& blue, Recorder& recorder) {
  for (std::int64_t i = 0; i < args.episodes; ++i) {
    const std::uint64_t seed = args.seed + static_cast<std::uint64_t>(i);
    recorder.reset(seed);
    blue.reset(seed);
    for (std::int64_t t = 0; t < args.steps; ++t) {
      const std::int64_t action = blue.act(recorder.obs()).action;
      const Simulator::Trace trace = recorder.step(action);
      blue.note(action, trace.blue_flag, recorder.obs());
    }
  }
}

Exit record(const RecordArgs& args, const Catalog& catalog) {
  const BluePlayer player = make_blue(args.blue, catalog);
  const fs::path file = file_of(args);
  make_folder(file.parent_path().string(), "--out");
  Recorder recorder({.source = source_of(args.rules),
                     .red = args.red,
                     .wrapper = player.run == nullptr ? "" : player.game.wrapper});
  play_recorded(args, *player.blue, recorder);
  recorder.save(file.string());
  const std::int64_t steps = args.episodes * args.steps;
  if (args.json) {
    fmt::print("{}\n", to_text(OrderedJson{{"out", file.string()},
                                           {"rules", args.rules},
                                           {"episodes", args.episodes},
                                           {"steps", steps}}));
  } else {
    fmt::print("{}: {} steps of {} episodes, rules {}; compare with: penstock cage2 replay {}\n",
               file.string(), steps, args.episodes, args.rules, args.out);
  }
  return Exit::ok;
}

}  // namespace

Verb record_verb(Options& app, const Catalog& catalog) {
  constexpr int kMost = 100'000;
  auto args = std::make_shared<RecordArgs>();
  Options& verb = app.add_command(
      "record", "play episodes and write them as replay and the recordings of CybORG have them");
  add_blue_options(verb, args->blue);
  verb.add("--red", args->red, "the attacker").one_of({"bline", "meander", "sleep"}).show_default();
  verb.add("--rules", args->rules, "rules of the game; dbg: of CybORG++")
      .one_of({"head", "leaderboard", "dbg"})
      .show_default();
  verb.add("--episodes", args->episodes, "episodes of the file").within(1, kMost).show_default();
  verb.add("--steps", args->steps, "steps of an episode").within(1, kMost).show_default();
  verb.add("--seed", args->seed, "seed of the first episode; the next has the next (default 0)");
  verb.add("--out", args->out, "folder for RED-POLICY-STEPS.npz, or for its subfolder lb or dbg")
      .show_default();
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return record(*args, catalog); }};
}

}  // namespace penstock::cage2
