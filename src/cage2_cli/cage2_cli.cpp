#include "penstock/cage2_cli/cage2_cli.h"

#include "cage2_cli/verbs.h"

namespace penstock {

std::vector<Verb> cage2_verbs(CLI::App& app, const Catalog& catalog) {
  return {cage2::play_verb(app), cage2::replay_verb(app), cage2::workflow_verb(app),
          cage2::search_verb(app), cage2::leaderboard_verb(app, catalog)};
}

}  // namespace penstock
