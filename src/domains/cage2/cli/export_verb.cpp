#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "domains/cage2/cli/agent_folder.h"
#include "domains/cage2/cli/verbs.h"
#include "penstock/core/base/json_value.h"

namespace penstock::cage2 {
namespace {

struct AgentArgs {
  BlueChoice run;
  std::string out = "agent";
  bool json = false;
};

Exit export_agent(const AgentArgs& args, const Catalog& catalog) {
  const BluePlayer player = trained_blue(args.run, catalog);
  write_agent(player, args.run.sampled, args.out);
  if (args.json) {
    fmt::print("{}\n", to_text(OrderedJson{{"out", args.out},
                                           {"wrapper", player.game.wrapper},
                                           {"rules", player.game.rules},
                                           {"sampled", args.run.sampled},
                                           {"trained_steps", player.run->timesteps}}));
    return Exit::ok;
  }
  fmt::print(
      "{}: an agent for CybORG with wrapper {}, {}, after {} steps; {} tells how to use it\n",
      args.out, player.game.wrapper, args.run.sampled ? "sampled" : "greedy", player.run->timesteps,
      (std::filesystem::path(args.out) / "README.md").string());
  return Exit::ok;
}

}  // namespace

Verb export_verb(Options& app, const Catalog& catalog) {
  auto args = std::make_shared<AgentArgs>();
  Options& verb = app.add_command(
      "export", "write a trained policy as an agent for CybORG that needs only numpy");
  add_run_options(verb, args->run);
  verb.add("--out", args->out, "the folder to write").show_default();
  verb.add_flag("--json", args->json, "one line of JSON on stdout");
  return {&verb, [args, &catalog] { return export_agent(*args, catalog); }};
}

}  // namespace penstock::cage2
