#pragma once
#include <string>

#include "penstock/core/store/checkpoint.h"
#include "penstock/core/train/trainer.h"

namespace penstock::detail {

constexpr std::size_t kWindow = 100;  // episodes in the running means

/// The text of state.json; `counters` are the engine's, a JSON object.
std::string state_text(const std::string& counters, const RunState& run);
/// Of a checkpoint. Throws DataError.
RunState read_run_state(const Checkpoint& checkpoint);

}  // namespace penstock::detail
