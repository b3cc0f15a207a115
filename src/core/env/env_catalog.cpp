#include "penstock/core/env/env_catalog.h"

#include <algorithm>

#include "penstock/core/base/find_entry.h"

namespace penstock {

std::unique_ptr<EnvFactory> EnvCatalog::env(const std::string& name) const {
  const bool listed =
      std::ranges::any_of(envs, [&](const auto& entry) { return entry.name == name; });
  if (!listed && other_env) {
    if (std::unique_ptr<EnvFactory> other = other_env(name)) { return other; }
  }
  return find_entry(envs, "env.id", name).make_factory();
}

}  // namespace penstock
