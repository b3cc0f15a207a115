#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/domains/booking/slots/sellers.h"

namespace penstock::booking {

/// What a network may choose for a slot. 0 withholds it. The others say what a sale there is taken
/// to cost: parts of its insertion and of blended_costs(), and `extra` times 1 / beta; fees then
/// follow by the closed form. 1 everywhere is insertion pricing, 2 everywhere the seller `blend`.
struct SlotLevel {
  double insertion = 0;
  double blend = 0;
  double extra = 0;
};
constexpr std::size_t kSlotLevels = 10;
constexpr std::int64_t kMyopicLevel = 1;

/// Numbers of a token. The first is 1 where the slot exists and the episode goes on.
constexpr std::size_t kSlotFeatures = 32;

/// Writes what is known of each slot for the call that waits, [kMaxSlots, kSlotFeatures]; zeros
/// where there is no slot, and everywhere when the episode is over. No number depends on how many
/// customers, vehicles or slots there are but by shares and logarithms. `legal` [kMaxSlots,
/// kSlotLevels]: a slot that does not fit can be withheld only.
void write_slot_tokens(SlotDay& day, std::span<float> tokens, std::span<bool> legal);

/// The offer that choices of levels [kMaxSlots] mean.
SlotOffer offer_of_levels(SlotDay& day, std::span<const std::int64_t> levels);

}  // namespace penstock::booking
