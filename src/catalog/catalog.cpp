#include "penstock/catalog/catalog.h"

#include "penstock/classic/classic.h"

namespace penstock {

Catalog default_catalog() {
  Catalog catalog;
  catalog.envs = classic_envs();
  catalog.networks = {
      {"mlp", "linear layers with tanh or ReLU, separate or shared trunk", make_mlp},
  };
  return catalog;
}

}  // namespace penstock
