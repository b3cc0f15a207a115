#include "penstock/app/envs/envs.h"

#include <utility>

#include "penstock/domains/booking/env/dvrptw.h"
#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/slots/slots_env.h"
#include "penstock/domains/cage2/opponent/policy_opponent.h"
#include "penstock/domains/cage2/sim/cage2.h"
#include "penstock/envs/classic/classic.h"

namespace penstock {
namespace {

void append(std::vector<EnvEntry>& table, std::vector<EnvEntry> lines) {
  for (EnvEntry& line : lines) { table.push_back(std::move(line)); }
}

}  // namespace

EnvCatalog default_envs(const PythonHost& host) {
  EnvCatalog catalog;
  catalog.envs = classic_envs();
  append(catalog.envs, cage2_envs(cage2::load_opponent));
  append(catalog.envs, booking::routing_envs(booking::make_any_oracle));
  append(catalog.envs, booking::slot_envs());
  catalog.other_env = [host](const std::string& id) {
    return names_python_env(id) ? make_python_env(id, host) : nullptr;
  };
  return catalog;
}

}  // namespace penstock
