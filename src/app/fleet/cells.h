#pragma once
#include <cstdint>
#include <vector>

#include "penstock/app/fleet/fleet.h"

namespace penstock::fleet::detail {

/// Every combination of the values in [grid], each with every draw from [random]. Of draws, the
/// n-th value of a key is a function of (seed, the key's place, n). Throws ConfigError.
std::vector<Cell> make_cells(const std::vector<Setting>& grid, const std::vector<Setting>& random,
                             std::int64_t draws, std::uint64_t draw_seed);

}  // namespace penstock::fleet::detail
