#include "domains/booking/cli/verbs.h"

#include <utility>

#include "penstock/domains/booking/cli/booking_cli.h"

namespace penstock {

std::vector<Verb> booking_verbs(Options& app, const Catalog& catalog) {
  std::vector<Verb> verbs = {booking::offer_verb(app), booking::eval_verb(app, catalog),
                             booking::report_verb(app, catalog)};
  for (Verb& verb : booking::oracle_verbs(app)) { verbs.push_back(std::move(verb)); }
  return verbs;
}

}  // namespace penstock
