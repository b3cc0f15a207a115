#pragma once
#include <memory>

#include "penstock/core/peers/peers.h"
#include "penstock/core/ranks/launch.h"

namespace penstock {

/// Which networks the processes of a run may talk over. What they say is neither encrypted nor
/// signed, so anything but this machine needs the user's word.
enum class Reach { this_machine, any_network };

/// Meets the other processes of a launch: returns when all are connected. Until then rank 0 listens
/// on the launch's address alone, the others on the one that leads there; afterwards nobody does.
/// Throws ConfigError for an address that `reach` does not
/// allow, PeerError (exit 69) when not all come in time, or the address has no meaning until then.
std::unique_ptr<Peers> join(const Launch& launch, Reach reach);

}  // namespace penstock
