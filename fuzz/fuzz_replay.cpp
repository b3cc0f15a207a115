// Any text is either refused with a DataError or a replay whose parts can be used as their types
// without asking again.
#include <cstdlib>

#include "app/cli/replay_file.h"
#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"

namespace {

using namespace penstock;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

/// As `penstock replay` takes an action; an exception is a crash.
void take(const Json& action, const ActionSpec& spec) {
  if (!cli::is_action_of(action, spec)) { return; }
  if (spec.continuous()) {
    require(action.get<std::vector<float>>().size() == spec.dims());
    return;
  }
  const auto choices = action.get<std::vector<std::int64_t>>();
  require(choices.size() == spec.dims());
  for (std::size_t d = 0; d < choices.size(); ++d) {
    require(choices[d] >= 0 && choices[d] < spec.choices()[d]);
  }
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ActionSpec specs[] = {Discrete{5}, MultiDiscrete{{3, 2}}, Box{{-1, -1}, {1, 1}}};
  Json replay;
  try {
    replay = cli::parse_replay(fuzz::text_of(data, size), "fuzz");
  } catch (const DataError&) {
    return 0;  // any other exception is a crash
  }
  require(!to_text(replay.at("kwargs")).empty());
  const std::string id = replay.at("env");
  const std::uint64_t seed = replay.at("seed");
  require(to_text(replay.at("seed")) == std::to_string(seed) && replay.at("env") == id);
  for (const Json& action : replay.at("actions")) {
    for (const ActionSpec& spec : specs) { take(action, spec); }
    to_text(action);
  }
  return 0;
}
