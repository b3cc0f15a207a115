#include "dvrptw_cli/verbs.h"

#include <utility>

#include "penstock/dvrptw_cli/verbs.h"

namespace penstock {

std::vector<Verb> dvrptw_verbs(CLI::App& app, const Catalog& catalog) {
  std::vector<Verb> verbs = {routing::offer_verb(app), routing::eval_verb(app, catalog),
                             routing::report_verb(app, catalog)};
  for (Verb& verb : routing::oracle_verbs(app)) { verbs.push_back(std::move(verb)); }
  return verbs;
}

}  // namespace penstock
