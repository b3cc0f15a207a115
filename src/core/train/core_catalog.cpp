#include "penstock/core/algo/a2c.h"
#include "penstock/core/algo/ppo.h"
#include "penstock/core/nn/token_mlp.h"
#include "penstock/core/nn/transformer.h"
#include "penstock/core/train/catalog.h"

namespace penstock {

Catalog core_catalog() {
  Catalog catalog;
  catalog.networks = {
      network_entry<NetConfig>("mlp", "linear layers with tanh or ReLU, separate or shared trunk",
                               make_mlp),
      network_entry<NetConfig>(
          "transformer", "attention between the rows of an observation, or between its features",
          make_transformer),
      network_entry<NetConfig>(
          "tokens",
          "one mlp for every row of an observation, each of which has a choice of its own",
          make_token_mlp),
  };
  catalog.algorithms = {ppo_entry(), a2c_entry(), appo_entry(), impala_entry()};
  return catalog;
}

}  // namespace penstock
