#pragma once
#include <cstdint>

namespace penstock {

/// Bytes that this process may still take: what the system has free and what its cgroup leaves.
/// A very large number where neither is known.
std::int64_t available_memory();

}  // namespace penstock
