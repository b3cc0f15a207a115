#pragma once
#include <functional>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking::service {

/// What the help says of `penstock booking serve`.
inline constexpr const char* kServeDoc =
    "keep the plans of depots and answer quotes, holds and bookings over HTTP";

/// Adds the options of `penstock booking serve` to its command. What is returned serves until
/// SIGINT or SIGTERM; it throws what reading the fleets, the store and the port throw.
std::function<Exit()> add_serve_options(Options& verb);

/// As a verb that needs nothing of the others.
inline constexpr LightVerb kServeVerb{
    .name = "serve", .doc = kServeDoc, .add_options = add_serve_options};

/// Whether a command line is `penstock booking serve ...`, by the domain's former name too.
bool asks_to_serve(int argc, const char* const* argv);

}  // namespace penstock::booking::service
