#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/domains/booking/slots/choice.h"

namespace penstock::booking::demand {

/// A slot as the seller sees it.
struct Wares {
  double margin = 0;     // what its sale leaves: revenue and fee less what it costs
  double fee = 0;        // which the customer sees; below 0: an incentive
  bool feasible = true;  // else it is never shown
};

/// What to show a customer.
struct Menu {
  std::array<bool, kMaxSlots> shown{};
  std::int32_t favoured = -1;  // the slot with an incentive; -1: none
  double incentive = 0;        // of money
  double margin = 0;           // expected of this menu
  double margin_of_all = 0;    // expected when all that is feasible is shown, without incentive
};

/// Among all feasible slots at their fees.
std::array<double, kMaxSlots> chances_of_all(const ChoiceModel& model, const SegmentBelief& belief,
                                             std::span<const Wares> wares);

/// The slots to show, and an incentive for one of them, by expected margin of this sale alone. The
/// first slots by margin, which is best for one segment (Talluri and van Ryzin 2004), then single
/// slots in or out while that gains. `incentives`: whether one may be given.
Menu best_menu(const ChoiceModel& model, const SegmentBelief& belief, std::span<const Wares> wares,
               bool incentives);

}  // namespace penstock::booking::demand
