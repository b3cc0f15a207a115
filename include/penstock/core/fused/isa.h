#pragma once
#include <string>
#include <vector>

namespace penstock::fused {

/// The instruction sets that this machine has and the kernels were compiled for, best first:
/// "avx512", "avx2", "sse4", "neon", "generic".
std::vector<std::string> supported_isas();

/// The one in use.
std::string current_isa();

/// Pins one by name, or "auto" for the best. For the whole process: call it before any kernel runs.
/// Throws ConfigError naming what there is; the one in use stays.
void use_isa(const std::string& name);

}  // namespace penstock::fused
