#include "penstock/catalog/catalog.h"

#include "penstock/classic/classic.h"
#include "penstock/nn/transformer.h"

namespace penstock {

Catalog default_catalog() {
  Catalog catalog;
  catalog.envs = classic_envs();
  catalog.networks = {
      {"mlp", "linear layers with tanh or ReLU, separate or shared trunk", make_mlp},
      {"transformer", "attention between the rows of an observation, or between its features",
       make_transformer},
  };
  return catalog;
}

}  // namespace penstock
