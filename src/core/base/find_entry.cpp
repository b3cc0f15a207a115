#include "penstock/core/base/find_entry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock/core/base/errors.h"

namespace penstock {

void refuse_name(const std::string& key, const std::string& name,
                 std::span<const std::string> names) {
  throw ConfigError(fmt::format("{} = {}: not one of {}{}", key, name, fmt::join(names, ", "),
                                did_you_mean(name, names)));
}

}  // namespace penstock
