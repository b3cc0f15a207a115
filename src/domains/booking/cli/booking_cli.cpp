#include "domains/booking/cli/verbs.h"

#include <utility>

#include "penstock/core/base/light_verb.h"
#include "penstock/domains/booking/cli/booking_cli.h"
#include "penstock/domains/booking/demand/command.h"
#include "penstock/domains/booking/dispatch/command.h"
#include "penstock/domains/booking/offer/command.h"
#include "penstock/domains/booking/service/command.h"
#include "penstock/domains/booking/slots/command.h"

namespace penstock {
namespace {

Verb verb_of(const LightVerb& light, Options& app) {
  Options& verb = app.add_command(light.name, light.doc);
  return {&verb, light.add_options(verb)};
}

}  // namespace

std::vector<Verb> booking_verbs(Options& app, const Catalog& catalog) {
  std::vector<Verb> verbs = {verb_of(booking::kOfferVerb, app),
                             verb_of(booking::service::kServeVerb, app),
                             verb_of(booking::demand::kBacktestVerb, app),
                             verb_of(booking::kSlotsVerb, app),
                             booking::eval_verb(app, catalog),
                             booking::report_verb(app, catalog)};
  for (const LightVerb& light : booking::dispatch::light_verbs()) {
    verbs.push_back(verb_of(light, app));
  }
  for (Verb& verb : booking::oracle_verbs(app)) { verbs.push_back(std::move(verb)); }
  return verbs;
}

}  // namespace penstock
