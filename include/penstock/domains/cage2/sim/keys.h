#pragma once
#include <algorithm>
#include <vector>

#include "penstock/core/base/config.h"

namespace penstock::cage2 {

/// A config with those of the settings that are keys of it. Throws ConfigError.
template <class Config>
Config config_from(const Settings& settings) {
  Config config;
  std::vector<Field> fields = fields_of(config, "env.");
  Settings own;
  for (const Setting& setting : settings.all()) {
    const auto same = [&](const Field& field) { return field.path == setting.path; };
    if (std::ranges::any_of(fields, same)) { own.append(setting); }
  }
  penstock::apply(fields, own);
  return config;
}

}  // namespace penstock::cage2
