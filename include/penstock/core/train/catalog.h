#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/algo/algorithm_entry.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/core/nn/network_entry.h"
#include "penstock/core/train/domain.h"

namespace penstock {

/// What can be trained and with what: a plain value that a program hands down. The penstock
/// executable hands down default_catalog(); an out-of-tree project adds its own lines to it.
///
///     Catalog catalog = default_catalog();
///     catalog.envs.push_back(env_entry<MyEnv>("my_env", "what it is"));
struct Catalog {
  std::vector<EnvEntry> envs;  // names are unique in each list; of doubles the first counts
  std::vector<NetworkEntry> networks;
  std::vector<AlgorithmEntry> algorithms;
  std::vector<DomainEntry> domains;
  /// Envs that are in no list: null for a name that means none.
  std::function<std::unique_ptr<EnvFactory>(const std::string& name)> other_env;

  /// Throw ConfigError naming the nearest spelling and what there is.
  /// A new factory each time, with the default config; it may outlive the catalog.
  [[nodiscard]] std::unique_ptr<EnvFactory> env(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<NetworkFactory> network(const std::string& name) const;
  [[nodiscard]] std::unique_ptr<LearnerFactory> algorithm(const std::string& name) const;
};

/// The networks and algorithms of the core, no env and no domain: for a program that trains its own
/// envs and links nothing but penstock::train.
Catalog core_catalog();

}  // namespace penstock
