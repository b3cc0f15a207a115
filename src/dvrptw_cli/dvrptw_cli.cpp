#include "dvrptw_cli/verbs.h"

#include "penstock/dvrptw_cli/verbs.h"

namespace penstock {

std::vector<Verb> dvrptw_verbs(CLI::App& app, const Catalog& catalog) {
  return {
      routing::offer_verb(app),
      routing::eval_verb(app, catalog),
      routing::report_verb(app, catalog),
  };
}

}  // namespace penstock
