#pragma once
#include <cstdint>

#include "penstock/domains/booking/routing/tours.h"

namespace penstock::booking {

/// What an offer does to a request's windows. shift moves them and keeps their width; widen leaves
/// the wished window inside.
enum class OfferKind : std::uint8_t { shift, widen };

/// The 16 offers: earlier by 0, 10, 20 or 30 minutes, later by 0, 10, 20 or 30 minutes. Their order
/// is 4 * (3 - earlier / 10) + later / 10: earlier falls, later rises.
inline constexpr std::int32_t kOffers = 16;
/// The offer (0, 0): the windows as wished.
inline constexpr std::int32_t kNoChange = 12;

/// Both 0, 600, 1200 or 1800.
struct OfferedTime {
  Seconds earlier = 0;
  Seconds later = 0;
  bool operator==(const OfferedTime&) const = default;
};
/// `action` in [0, kOffers).
constexpr OfferedTime offered_time(std::int32_t action) {
  constexpr Seconds kStep = 600;
  return {.earlier = kStep * (3 - action / 4), .later = kStep * (action % 4)};
}
/// What the customer gives, minutes: the sum of both.
constexpr std::int32_t offered_minutes(std::int32_t action) {
  const OfferedTime time = offered_time(action);
  return (time.earlier + time.later) / 60;
}

/// The windows that the instance holds for a request; the second is empty in deliver mode.
RequestWindows windows_of(const Instance& instance, std::int32_t request);

/// The windows that an offer on a request promises, from those that the instance holds, which are
/// the wished ones. shift: the pickup is earlier and the drop-off later; a single stop moves by the
/// difference. widen: every window begins earlier and ends later.
RequestWindows offered_windows(const Instance& instance, std::int32_t request, OfferKind kind,
                               std::int32_t action);
/// The same from the wished windows themselves.
RequestWindows offered_windows(const RequestWindows& wished, Mode mode, OfferKind kind,
                               std::int32_t action);

/// Writes a request's windows into the instance.
void promise(Instance& instance, std::int32_t request, const RequestWindows& windows);

}  // namespace penstock::booking
