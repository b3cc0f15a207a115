#pragma once
#include <span>
#include <string>

#include "penstock/core/base/config.h"

namespace penstock::detail {

/// Every setting under the name of a key of `fields`: `workers`, `learning_rate` and `minibatch`
/// mean a key of the env or the algorithm, and so many workers of so many envs are a number of
/// envs. Throws ConfigError where numbers contradict each other, and for other libraries' names of
/// keys, with ours.
Settings with_keys_named(const Settings& settings, std::span<const Field> fields,
                         const std::string& algo);

}  // namespace penstock::detail
