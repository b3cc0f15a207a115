#include "app/cli/replay_file.h"

#include <fmt/format.h>

#include <cstdint>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace penstock::cli {
namespace {

/// Of the types that docs/formats.md lists, so that what reads it need not ask again.
bool well_formed(const Json& replay) {
  const auto has = [&](const char* key, bool (*is)(const Json&)) {
    return replay.contains(key) && is(replay.at(key));
  };
  return has("env", [](const Json& x) { return x.is_string(); }) &&
         has("kwargs", [](const Json& x) { return x.is_object(); }) &&
         has("seed", [](const Json& x) { return x.is_number_unsigned(); }) &&
         has("actions", [](const Json& x) { return x.is_array(); });
}

}  // namespace

Json parse_replay(std::string_view text, const std::string& path) {
  Json replay = try_parse_json(text);
  if (!replay.is_object() || replay.value("penstock_replay", Json()) != Json(1)) {
    throw DataError(fmt::format("{}: not a replay of an env's failure", path));
  }
  if (replay.value("complete", Json()) != Json(true)) {
    throw DataError(fmt::format("{}: the episode was too long to keep all of its actions", path));
  }
  if (!well_formed(replay)) {
    throw DataError(fmt::format(
        "{}: env, kwargs, seed or actions are missing or of another type; the file is damaged",
        path));
  }
  return replay;
}

bool is_action_of(const Json& action, const ActionSpec& spec) {
  if (!action.is_array() || action.size() != spec.dims()) { return false; }
  for (std::size_t d = 0; d < action.size(); ++d) {
    const Json& number = action[d];
    if (spec.continuous()
            ? !number.is_number()
            : !number.is_number_unsigned() ||
                  number.get<std::uint64_t>() >= static_cast<std::uint64_t>(spec.choices()[d])) {
      return false;
    }
  }
  return true;
}

}  // namespace penstock::cli
