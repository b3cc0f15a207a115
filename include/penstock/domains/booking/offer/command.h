#pragma once
#include <functional>

#include "penstock/core/base/options.h"

namespace penstock::booking {

/// What the help says of `penstock booking offer`.
inline constexpr const char* kOfferDoc =
    "price up to 16 time slots that could be proposed for a new request";

/// Adds the options of `penstock booking offer` to its command. What is returned runs it once the
/// options are read; it throws what reading the query, making the oracle and serving throw.
std::function<Exit()> add_offer_options(Options& verb);

/// Whether a command line is `penstock booking offer ...`, by the domain's former name too.
bool asks_for_offers(int argc, const char* const* argv);
/// Runs such a command line, as the whole program would, and without what the other verbs need.
/// Returns the exit code; errors are printed to stderr, never thrown.
int run_offer_command(int argc, const char* const* argv);

}  // namespace penstock::booking
