#include "penstock/app/catalog/catalog.h"

#include "penstock/app/envs/envs.h"
#include "penstock/domains/booking/cli/booking_cli.h"
#include "penstock/domains/cage2/cli/cage2_cli.h"

namespace penstock {

Catalog default_catalog(const PythonHost& host) {
  Catalog catalog = core_catalog();
  static_cast<EnvCatalog&>(catalog) = default_envs(host);
  catalog.domains = {
      {"cage2", "CAGE Challenge 2: play, replay recordings, train workflows", cage2_verbs},
      {"booking", "booking trips and deliveries under time windows: price offers, compare policies",
       booking_verbs, "dvrptw"},
  };
  return catalog;
}

Catalog default_catalog() { return default_catalog(PythonHost{}); }

}  // namespace penstock
