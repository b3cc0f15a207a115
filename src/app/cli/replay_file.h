#pragma once
#include <string>
#include <string_view>
#include "penstock/core/base/json.h"

#include "penstock/core/env/spec.h"

namespace penstock::cli {

/// A replay of an env's failure, as docs/formats.md describes it: an object whose env, kwargs, seed
/// and actions are there and of their types. Throws DataError that names `path`.
Json parse_replay(std::string_view text, const std::string& path);

/// Whether it is a number for each dimension: whole ones of the choices, where there are such.
bool is_action_of(const Json& action, const ActionSpec& spec);

}  // namespace penstock::cli
