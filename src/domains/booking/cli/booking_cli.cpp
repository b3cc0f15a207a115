#include "domains/booking/cli/verbs.h"

#include <utility>

#include "penstock/core/base/light_verb.h"
#include "penstock/domains/booking/cli/booking_cli.h"
#include "penstock/domains/booking/dispatch/command.h"

namespace penstock {

std::vector<Verb> booking_verbs(Options& app, const Catalog& catalog) {
  std::vector<Verb> verbs = {booking::offer_verb(app), booking::serve_verb(app),
                             booking::eval_verb(app, catalog), booking::report_verb(app, catalog)};
  for (const LightVerb& light : booking::dispatch::light_verbs()) {
    Options& verb = app.add_command(light.name, light.doc);
    verbs.push_back({&verb, light.add_options(verb)});
  }
  for (Verb& verb : booking::oracle_verbs(app)) { verbs.push_back(std::move(verb)); }
  return verbs;
}

}  // namespace penstock
