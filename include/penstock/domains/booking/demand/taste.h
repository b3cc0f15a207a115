#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/slots/choice.h"

namespace penstock::booking::demand {

/// What a slot is judged by; a taste has a number for each.
inline constexpr std::size_t kNumTraits = 6;
inline constexpr std::array<const char*, kNumTraits> kTraitNames = {
    "any",        // any slot rather than none
    "afternoon",  // its middle is from 12:00 on
    "evening",    // its middle is from 17:00 on; it is no afternoon's then
    "per_day",    // days from the call to the slot
    "per_hour",   // hours from its begin to its end
    "fee",        // what it costs the customer
};
inline constexpr std::size_t kFee = 5;
using Traits = std::array<double, kNumTraits>;

/// A slot of a date, "YYYY-MM-DD", in seconds of that day, as customers see it who call on a day:
/// so many days ahead, 60 at most.
SlotTime seen_from(std::string_view today, std::string_view date,
                   const dispatch::TimeWindow& window);

/// The fee is not among them.
Traits traits_of(const SlotTime& slot);

/// Customers who answer alike: a slot's utility is the sum of its traits, each times the number
/// here. To take nothing has utility 0.
struct Taste {
  std::string name;
  double share = 1;
  Traits worth{};  // [kFee] is below 0

  [[nodiscard]] double utility(const SlotTime& slot, double fee = 0) const;
};

/// The tastes that there are, with how frequent they are.
struct Tastes {
  std::vector<Taste> list;
  /// Whether what a fee does was learnt; else fees are taken to do nothing, and no incentive is
  /// ever worth its money.
  bool knows_fees = false;

  /// Choice among these slots, at most kMaxSlots.
  [[nodiscard]] ChoiceModel model(std::span<const SlotTime> slots) const;
};

/// Throws UsageError unless it is known of everybody what a fee does.
void require_fees(const Tastes& tastes);

/// Of customers of whom nothing is known: any time, mornings, afternoons or evenings.
Tastes default_tastes();

/// {"tastes": [{"name", "share", "any", "afternoon", ...}]}, as `backtest --tastes` writes it.
/// Throws DataError that names the field.
Tastes read_tastes(std::string_view text, const std::string& name);
std::string tastes_text(const Tastes& tastes);

}  // namespace penstock::booking::demand
