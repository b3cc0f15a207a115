#pragma once
#include "penstock/app/bench/bench.h"
#include "penstock/core/train/engine.h"

namespace penstock::detail {

/// Whole iterations for about `seconds`, at least one: samples per second. Adds what they spent.
double run_for(Engine& engine, double seconds, TimeSplit& spent);

/// Runs until what is left to "auto" is chosen and first uses are paid for.
void run_until_tuned(Engine& engine, const RunConfig& config);

}  // namespace penstock::detail
