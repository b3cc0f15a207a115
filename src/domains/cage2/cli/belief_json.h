#pragma once
#include <string>

#include "penstock/core/base/json_value.h"
#include "penstock/domains/cage2/sim/belief.h"

namespace penstock::cage2 {

/// A belief in words. The keys are listed in docs/cage2/README.md; hosts of which nothing is
/// believed are left out.
OrderedJson belief_json(const BeliefFilter& filter);

/// The answer of `cage2 believe` to a line: an object with "action", "success" and "observation" is
/// a step, one without "action" begins an episode. Throws DataError.
std::string believe(BeliefFilter& filter, const std::string& line);

}  // namespace penstock::cage2
