#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/env/vec_env.h"

namespace penstock {

/// Envs by name: a plain value that a program hands down.
struct EnvCatalog {
  std::vector<EnvEntry> envs;  // names are unique; of doubles the first counts
  /// Envs that are not in the list: null for a name that means none.
  std::function<std::unique_ptr<EnvFactory>(const std::string& name)> other_env;

  /// A new factory each time, with the default config; it may outlive the catalog. Throws
  /// ConfigError naming the nearest spelling and what there is.
  [[nodiscard]] std::unique_ptr<EnvFactory> env(const std::string& name) const;
};

}  // namespace penstock
