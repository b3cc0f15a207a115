#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/slots/day.h"

namespace penstock::booking {

/// Calls that are alike, as a seller imagines them.
struct CallKind {
  std::size_t wished = 0;  // slot of a day
  double share = 0;        // of all calls
  ChoiceModel model;
  SegmentBelief prior{};
  ChoiceSegment merged;
  double revenue = 0;
  double hours = 0;  // of a vehicle's time that a sale takes
  double km = 0;
};

/// Calls to come, drawn from the market: by wished slot, and by whether they are far from the
/// depot.
struct Outlook {
  std::vector<CallKind> kinds;
  double depot_hours = 0;  // from the depot to a call, mean
  double depot_km = 0;

  void imagine(const SlotDay& day, std::uint64_t seed);

 private:
  void add_calls(const SlotMarket& market, double apart);
  SlotEpisode drawn_;
};

/// What vehicles do in each slot's hours, between their first and last stops.
struct VehicleHours {
  std::array<double, kMaxSlots> paid{};    // out
  std::array<double, kMaxSlots> busy{};    // of these: driving or at a stop
  std::array<double, kMaxSlots> opened{};  // [days] vehicles with stops

  /// A route between its two visits of the depot; sign -1 takes it away.
  void add(const SlotDay& day, std::int32_t service_day, std::span<const std::int32_t> nodes,
           double sign);

 private:
  void add_span(const SlotMarket& market, std::int32_t service_day, Seconds from, Seconds to,
                std::array<double, kMaxSlots>& into, double sign) const;
};

}  // namespace penstock::booking
