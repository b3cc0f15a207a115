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

/// What is known of a slot for the call that waits.
struct SlotView {
  SlotTime time;
  bool open = false;           // takes bookings still
  bool fits = false;           // and the routes have a place
  bool opens_vehicle = false;  // there, for one that has no stop yet
  Cents cost = 0;              // that the plan grows by, at that place
  double until_cutoff = 0;     // share of the horizon
  std::int32_t sold = 0;
  double nearest = 1;      // stop of those sold, share of the map's side
  double near = 0;         // stops of them within a tenth of the side
  double slack = 0;        // seconds that they may begin later, added up
  std::int32_t stops = 0;  // of them

  /// One of the stops sold: how far from the call, as a share of the side, and its slack.
  void add_stop(double far, double seconds_of_slack);
};

/// What a network is told: the slots on offer, and what they share. Whoever keeps plans fills it.
struct SlotState {
  std::array<SlotView, kMaxSlots> slots{};
  std::size_t num_slots = 0;
  ChoiceModel model;       // of the slots
  SegmentBelief belief{};  // of the call
  double beta = 1;         // that stands for all segments
  FeeRule fees;
  Cents revenue = 0;    // of the call
  double passed = 0;    // share of the horizon
  double expected = 1;  // calls of the horizon
  double days = 1;      // that are sold side by side
  double vehicles = 1;  // of a day
  double used = 0;      // share of the vehicles of all days
  double depot = 0;     // how far from the call, share of the side
  std::int32_t sold = 0;
  Cents cost = 0;  // of the plans
  bool ride = false;
};

/// The state of an episode, which must not be over.
SlotState state_of(SlotDay& day);

/// Writes what is known of each slot for the call that waits, [kMaxSlots, kSlotFeatures]; zeros
/// where there is no slot. No number depends on how many customers, vehicles or slots there are but
/// by shares and logarithms. `legal` [kMaxSlots, kSlotLevels]: a slot that does not fit can be
/// withheld only.
void write_slot_tokens(const SlotState& state, std::span<float> tokens, std::span<bool> legal);
/// The same of an episode; zeros everywhere when it is over.
void write_slot_tokens(SlotDay& day, std::span<float> tokens, std::span<bool> legal);

/// What a sale is taken to cost where these levels are chosen, in money; kWithheld where it is not
/// offered. [slots]
std::array<double, kMaxSlots> costs_of_levels(const SlotState& state,
                                              std::span<const std::int64_t> levels);
/// The offer that choices of levels [kMaxSlots] mean.
SlotOffer offer_of_levels(SlotDay& day, std::span<const std::int64_t> levels);

}  // namespace penstock::booking
