#pragma once
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/algo/algorithm_entry.h"
#include "penstock/core/env/env_catalog.h"
#include "penstock/core/nn/network_entry.h"
#include "penstock/core/train/domain.h"

namespace penstock {

/// What can be trained and with what: a plain value that a program hands down. The penstock
/// executable hands down default_catalog(); an out-of-tree project adds its own lines to it.
///
///     Catalog catalog = default_catalog();
///     catalog.envs.push_back(env_entry<MyEnv>("my_env", "what it is"));
struct Catalog : EnvCatalog {
  std::vector<NetworkEntry> networks;  // names are unique in each list; of doubles the first counts
  std::vector<AlgorithmEntry> algorithms;
  std::vector<DomainEntry> domains;

  /// New factories each time, as env() makes them. Throw ConfigError naming the nearest spelling
  /// and what there is.
  [[nodiscard]] std::unique_ptr<NetworkFactory> network(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<LearnerFactory> algorithm(const std::string& name) const;
};

/// The networks and algorithms of the core, no env and no domain: for a program that trains its own
/// envs and links nothing but penstock::train.
Catalog core_catalog();

}  // namespace penstock
