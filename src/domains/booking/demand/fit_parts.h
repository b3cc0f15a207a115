#pragma once
#include <span>

#include "penstock/domains/booking/demand/fit.h"

// Of the fit of one taste, what the fit of several is made of.

namespace penstock::booking::demand {

/// A few steps towards the highest likelihood of weighted answers, under a weak prior.
void climb_on(std::span<const Answer> answers, std::span<const double> weights, Fit& fit);
/// ln of the chance of an answer.
double log_chance(const Answer& answer, const Traits& worth);

}  // namespace penstock::booking::demand
