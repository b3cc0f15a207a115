#include "penstock/catalog/catalog.h"

#include "penstock/cage2/cage2.h"
#include "penstock/cage2_cli/cage2_cli.h"
#include "penstock/classic/classic.h"
#include "penstock/dvrptw_cli/verbs.h"
#include "penstock/nn/transformer.h"
#include "penstock/routing/dvrptw.h"
#include "penstock/routing_nn/neural_oracle.h"

namespace penstock {
namespace {

template <class Entry>
void append(std::vector<Entry>& table, std::vector<Entry> lines) {
  for (Entry& line : lines) { table.push_back(std::move(line)); }
}

}  // namespace

Catalog default_catalog(const PythonHost& host) {
  Catalog catalog;
  catalog.envs = classic_envs();
  append(catalog.envs, cage2_envs());
  append(catalog.envs, routing::routing_envs(routing::make_any_oracle));
  catalog.networks = {
      {"mlp", "linear layers with tanh or ReLU, separate or shared trunk", make_mlp},
      {"transformer", "attention between the rows of an observation, or between its features",
       make_transformer},
  };
  catalog.domains = {
      {"cage2", "CAGE Challenge 2: play, replay recordings, train workflows", cage2_verbs},
      {"dvrptw", "booking trips and deliveries under time windows: price offers, compare policies",
       dvrptw_verbs},
  };
  catalog.other_env = [host](const std::string& id) {
    return names_python_env(id) ? make_python_env(id, host) : nullptr;
  };
  return catalog;
}

}  // namespace penstock
