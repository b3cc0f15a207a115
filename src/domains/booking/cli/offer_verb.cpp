#include "domains/booking/cli/verbs.h"
#include "penstock/domains/booking/offer/command.h"

namespace penstock::booking {

Verb offer_verb(Options& app) {
  Options& verb = app.add_command("offer", kOfferDoc);
  return {&verb, add_offer_options(verb)};
}

}  // namespace penstock::booking
