#pragma once
#include "penstock/core/base/light_verb.h"

namespace penstock::booking {

/// `penstock booking slots`: sellers of slots compared on the same callers.
std::function<Exit()> add_slots_options(Options& verb);
inline constexpr LightVerb kSlotsVerb{
    .name = "slots",
    .doc = "compare sellers of slots on the same callers, in money",
    .add_options = add_slots_options};

}  // namespace penstock::booking
