#pragma once
#include <cstdint>

#include "penstock/core/algo/learner.h"

namespace penstock {

/// Runs every kind of kernel once on this thread, on throw-away data of the real shapes. Maths
/// libraries set themselves up on first use, and several threads doing so at once changed the last
/// bits in a few per cent of runs. Call it before the pool has work; policy weights are left as
/// they were.
/// `num_steps` are those of each env in an update. A fused policy needs none of this, and nothing
/// is done for it.
void warm_up(const LearnerFactory& factory, Policy& policy, const ActionHead& head,
             const Shards& shards, const EnvSpec& spec, std::int64_t num_steps);

}  // namespace penstock
