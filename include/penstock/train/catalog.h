#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/env/vec_env.h"
#include "penstock/nn/mlp.h"
#include "penstock/train/domain.h"

namespace penstock {

/// A line of the catalog: a kind of network.
struct NetworkEntry {
  std::string name;
  std::string doc;
  std::function<std::unique_ptr<Network>(const EnvSpec&, const NetConfig&, std::uint64_t seed)>
      make;
};

/// What can be trained and with what: a plain value that a program hands down. The penstock
/// executable hands down default_catalog(); an out-of-tree project adds its own lines to it.
struct Catalog {
  std::vector<EnvEntry> envs;
  std::vector<NetworkEntry> networks;
  std::vector<DomainEntry> domains;
  /// Envs that are in no list: null for a name that means none.
  std::function<std::unique_ptr<EnvFactory>(const std::string& name)> other_env;

  /// Throw ConfigError naming the nearest spelling and what there is.
  [[nodiscard]] std::unique_ptr<EnvFactory> env(const std::string& name) const;
  [[nodiscard]] const NetworkEntry& network(const std::string& name) const;
};

}  // namespace penstock
