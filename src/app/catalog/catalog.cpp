#include "penstock/app/catalog/catalog.h"

#include "penstock/domains/booking/cli/booking_cli.h"
#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/cage2/cli/cage2_cli.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "penstock/envs/classic/classic.h"
#include "penstock/envs/python/python_env.h"

namespace penstock {
namespace {

template <class Entry>
void append(std::vector<Entry>& table, std::vector<Entry> lines) {
  for (Entry& line : lines) { table.push_back(std::move(line)); }
}

}  // namespace

Catalog default_catalog(const PythonHost& host) {
  Catalog catalog = core_catalog();
  catalog.envs = classic_envs();
  append(catalog.envs, cage2_envs());
  append(catalog.envs, booking::routing_envs(booking::make_any_oracle));
  catalog.domains = {
      {"cage2", "CAGE Challenge 2: play, replay recordings, train workflows", cage2_verbs},
      {"booking", "booking trips and deliveries under time windows: price offers, compare policies",
       booking_verbs, "dvrptw"},
  };
  catalog.other_env = [host](const std::string& id) {
    return names_python_env(id) ? make_python_env(id, host) : nullptr;
  };
  return catalog;
}

Catalog default_catalog() { return default_catalog(PythonHost{}); }

}  // namespace penstock
