#include "domains/cage2/cli/agent_folder.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "domains/cage2/cli/files.h"
#include "penstock/core/base/config.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/store/journal.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

// Made of the files of src/domains/cage2/cli/agent when the build is configured.
constexpr std::string_view kAgentScript =
#include "domains/cage2/cli/agent/agent.py.inc"
    ;
constexpr std::string_view kEvaluateScript =
#include "domains/cage2/cli/agent/evaluate.py.inc"
    ;
constexpr std::string_view kRecordScript =
#include "domains/cage2/cli/agent/record.py.inc"
    ;
constexpr std::string_view kAgentReadme =
#include "domains/cage2/cli/agent/README.md.inc"
    ;

struct AgentFile {
  const char* name;
  std::string_view text;
};
constexpr std::array<AgentFile, 4> kAgentFiles = {{{"agent.py", kAgentScript},
                                                   {"evaluate.py", kEvaluateScript},
                                                   {"record.py", kRecordScript},
                                                   {"README.md", kAgentReadme}}};

/// What an agent in CybORG cannot know or compute.
void require_playable(const BluePlayer& player) {
  const PolicyShape& shape = player.run->player.model->shape();
  if (!shape.mlp) {
    throw UsageError(
        "the run's network is not a stack of linear layers, which is all that the agent computes; "
        "train one with net.kind = mlp");
  }
  if (shape.mlp->skip != fused::MlpShape::kNone) {
    throw UsageError(
        "the run's network adds part of the observation to its preferences, which "
        "the agent does not; train one without");
  }
  if (player.remembers() && player.game.fix_remove_flag) {
    throw UsageError(
        "the run was trained with env.fix_remove_flag = true: whether Remove removed something is "
        "not in what CybORG shows an agent; train with env.fix_remove_flag = false");
  }
}

/// What `cage2 believe` needs for the policy's filter; empty: it has none.
OrderedJson beliefs_json(const BluePlayer& player) {
  OrderedJson json = OrderedJson::object();
  if (player.keys.num_hypotheses == 0) { return json; }
  Simulator::Config game = player.game;
  for (const Field& field : fields_of(game, "env.")) {
    auto* const* text = std::get_if<std::string*>(&field.target);
    json[field.path] = text != nullptr ? **text : value_text(field);
  }
  json["env.num_hypotheses"] = std::to_string(player.keys.num_hypotheses);
  return json;
}

OrderedJson settings_json(const BluePlayer& player, bool sampled) {
  return {{"env", player.run->plan->config().env.id},
          {"wrapper", player.game.wrapper},
          {"rules", player.game.rules},
          {"fix_vsftpd", player.game.fix_vsftpd},
          {"show_order", player.shows_order},
          {"memory", player.keys.memory},
          {"macro", player.keys.macro},
          {"mask", player.keys.mask},
          {"order", order_of(player.keys.order)},
          {"beliefs", beliefs_json(player)},
          {"sampled", sampled},
          {"trained_steps", player.run->timesteps}};
}

}  // namespace

void write_agent(const BluePlayer& player, bool sampled, const std::string& folder) {
  require_playable(player);
  make_folder(folder, "--out");
  const fs::path to(folder);
  for (const AgentFile& file : kAgentFiles) {
    replace_text(to / file.name, std::string(file.text));
  }
  replace_text(to / "agent.json", to_text(settings_json(player, sampled)) + "\n");
  player.run->player.model->save((to / "policy.safetensors").string());
}

}  // namespace penstock::cage2
