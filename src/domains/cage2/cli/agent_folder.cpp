#include "domains/cage2/cli/agent_folder.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "domains/cage2/cli/files.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace penstock::cage2 {
namespace {

namespace fs = std::filesystem;

struct AgentFile {
  const char* name;
  std::string_view text;
};

// Made of the files of src/domains/cage2/cli/agent when the build is configured.
constexpr std::array<AgentFile, 3> kFiles = {{{
                                                  "agent.py",
#include "domains/cage2/cli/agent/agent.py.inc"
                                              },
                                              {
                                                  "evaluate.py",
#include "domains/cage2/cli/agent/evaluate.py.inc"
                                              },
                                              {
                                                  "README.md",
#include "domains/cage2/cli/agent/README.md.inc"
                                              }}};

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
  if (player.is_defender() && player.game.fix_remove_flag) {
    throw UsageError(
        "the run was trained with env.fix_remove_flag = true: whether Remove removed something is "
        "not in what CybORG shows an agent; train with env.fix_remove_flag = false");
  }
}

OrderedJson settings_json(const BluePlayer& player, bool sampled) {
  return {{"env", player.is_defender() ? "cage2_defender" : "cage2"},
          {"wrapper", player.game.wrapper},
          {"rules", player.game.rules},
          {"fix_vsftpd", player.game.fix_vsftpd},
          {"sampled", sampled},
          {"trained_steps", player.run->timesteps}};
}

}  // namespace

void write_agent(const BluePlayer& player, bool sampled, const std::string& folder) {
  require_playable(player);
  make_folder(folder, "--out");
  const fs::path to(folder);
  for (const AgentFile& file : kFiles) { write_file(to / file.name, std::string(file.text)); }
  write_file(to / "agent.json", to_text(settings_json(player, sampled)) + "\n");
  player.run->player.model->save((to / "policy.safetensors").string());
}

}  // namespace penstock::cage2
