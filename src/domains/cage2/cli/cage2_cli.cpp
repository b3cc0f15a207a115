#include "penstock/domains/cage2/cli/cage2_cli.h"

#include "domains/cage2/cli/verbs.h"

namespace penstock {

std::vector<Verb> cage2_verbs(Options& app, const Catalog& catalog) {
  return {cage2::play_verb(app, catalog),   cage2::replay_verb(app),
          cage2::workflow_verb(app),        cage2::search_verb(app),
          cage2::orders_verb(app, catalog), cage2::leaderboard_verb(app, catalog),
          cage2::export_verb(app, catalog), cage2::verify_verb(app, catalog),
          cage2::record_verb(app, catalog), cage2::believe_verb(app)};
}

}  // namespace penstock
