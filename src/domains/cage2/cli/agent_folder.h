#pragma once
#include <string>

#include "domains/cage2/cli/blue.h"

namespace penstock::cage2 {

/// Writes a folder that plays the policy in CybORG with numpy alone, but that beliefs are asked of
/// this program: agent.py, its weights, what
/// they were trained with, scripts that evaluate it and record its games, and a README. Files of
/// the same names are replaced. Throws UsageError for a policy that cannot be played there,
/// IoError.
void write_agent(const BluePlayer& player, bool sampled, const std::string& folder);

}  // namespace penstock::cage2
