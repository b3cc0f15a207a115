#pragma once
#include <cstddef>
#include <memory>

#include "penstock/routing/dvrptw.h"
#include "penstock/routing_train/policies.h"
#include "penstock/train/engine.h"

namespace penstock::routing {

/// The most likely offer of a trained network. The exact posterior stands where a run learnt its
/// beliefs: the people of an evaluation are strangers to the run. `shard` of the actor's policy
/// must be used by nobody else at the time.
std::unique_ptr<OfferPolicy> make_learnt_policy(const DvrptwConfig& config, const Actor& actor,
                                                std::size_t shard);

}  // namespace penstock::routing
