#pragma once
#include <cstddef>
#include <memory>

#include "penstock/core/act/actor.h"
#include "penstock/domains/booking/compare/policies.h"
#include "penstock/domains/booking/env/dvrptw.h"

namespace penstock::booking {

/// The most likely offer of a trained network. The exact posterior replaces the beliefs
/// that a run learnt: the people of an evaluation are strangers to the run.
/// `config` is that of the run's env: the model sees observations of its kind.
std::unique_ptr<OfferPolicy> make_learnt_policy(const DvrptwConfig& config,
                                                const std::shared_ptr<const PolicyModel>& model);

}  // namespace penstock::booking
