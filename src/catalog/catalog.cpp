#include "penstock/catalog/catalog.h"

#include "penstock/classic/classic.h"
#include "penstock/nn/transformer.h"

namespace penstock {

Catalog default_catalog(const PythonHost& host) {
  Catalog catalog;
  catalog.envs = classic_envs();
  catalog.networks = {
      {"mlp", "linear layers with tanh or ReLU, separate or shared trunk", make_mlp},
      {"transformer", "attention between the rows of an observation, or between its features",
       make_transformer},
  };
  catalog.other_env = [host](const std::string& id) {
    return names_python_env(id) ? make_python_env(id, host) : nullptr;
  };
  return catalog;
}

}  // namespace penstock
