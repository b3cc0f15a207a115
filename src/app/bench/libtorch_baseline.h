#pragma once
#include <cstdint>
#include <functional>

#include "penstock/core/train/config.h"

namespace penstock::detail {

/// The bare engine: what a careful person writes by hand with libtorch for exactly the plan's work,
/// on random data. Calling it runs for about that many seconds and gives samples per second.
std::function<double(double seconds)> make_bare(const RunPlan& plan, std::int64_t num_threads);

}  // namespace penstock::detail
