#pragma once
#include <functional>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking {

/// Adds the options of `penstock booking offer` to its command. What is returned runs it once the
/// options are read; it throws what reading the query, making the oracle and serving throw.
std::function<Exit()> add_offer_options(Options& verb);

/// As a verb that needs nothing of the others.
inline constexpr LightVerb kOfferVerb{
    .name = "offer",
    .doc = "price up to 16 time slots that could be proposed for a new request",
    .add_options = add_offer_options};

/// Runs a command line `penstock booking offer ...`, as the whole program would, and without what
/// the other verbs need. Returns the exit code; errors are printed to stderr, never thrown.
int run_offer_command(int argc, const char* const* argv);

}  // namespace penstock::booking
