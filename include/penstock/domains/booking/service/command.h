#pragma once
#include <functional>

#include "penstock/core/base/light_verb.h"

namespace penstock::booking::service {

/// Adds the options of `penstock booking serve` to its command. What is returned serves until
/// SIGINT or SIGTERM; it throws what reading the fleets, the store and the port throw.
std::function<Exit()> add_serve_options(Options& verb);

/// As a verb that needs nothing of the others.
inline constexpr LightVerb kServeVerb{
    .name = "serve",
    .doc = "keep the plans of depots and answer quotes, holds and bookings over HTTP",
    .add_options = add_serve_options};

}  // namespace penstock::booking::service
