#pragma once
#include <cstdint>
#include <span>

#include "penstock/domains/cage2/sim/memory.h"
#include "penstock/domains/cage2/sim/unit_order.h"

/// Which actions a defender should not even try. All of it follows from what Blue was shown and did
/// itself: no function here can reach the true state.
namespace penstock::cage2 {

/// none: all 145 actions are open, as in the challenge; legal: no decoys that are_futile; order:
/// nor fixes that an order forbids.
enum class ActionMask : std::uint8_t { none, legal, order };

/// The host that a Remove or a Restore repairs; kNone for every other action.
std::uint8_t fixed_host(std::int64_t action);

/// A decoy that the host has already, or that is none of decoys_of() the host. `action` is one of
/// the 145; what is not a decoy is never futile.
bool is_futile(std::int64_t action, const Memory& memory);

/// Hosts that Blue must take for lost, of kDefended: those marked in its table, and suspects. A
/// suspect was active more than once without an alarm, as a host that red took unnoticed is, and
/// was neither repaired nor analysed since.
HostSet flagged_hosts(ObsBits obs, const Memory& memory);

/// By ActionMask::legal, or by ActionMask::order where an order is given. Sleep is always open.
/// [145], or [kNumMacros] for macro actions.
void write_mask(ObsBits obs, const Memory& memory, const Order* order, std::span<bool> open);

}  // namespace penstock::cage2
