#include "domains/booking/cli/verbs.h"
#include "penstock/domains/booking/offer/command.h"
#include "penstock/domains/booking/service/command.h"

namespace penstock::booking {

Verb offer_verb(Options& app) {
  Options& verb = app.add_command("offer", kOfferDoc);
  return {&verb, add_offer_options(verb)};
}

Verb serve_verb(Options& app) {
  Options& verb = app.add_command("serve", service::kServeDoc);
  return {&verb, service::add_serve_options(verb)};
}

}  // namespace penstock::booking
