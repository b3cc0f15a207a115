#pragma once
#include <cstdint>
#include <vector>

#include "penstock/domains/booking/slots/day.h"

namespace penstock::booking {

/// What may come: the sales so far, the call that waits and calls that are imagined, in one
/// episode. Distances are made from the places on the map, so days without a map cannot be.
struct Future {
  /// Where the call that waits stands among the calls.
  enum class Now { first, last };

  SlotEpisode episode;
  std::vector<Plan> plans;  // [days] of the sales so far

  /// Calls drawn from the market with `seed`, those after now.
  void imagine(const SlotDay& day, std::uint64_t seed, Now now);

 private:
  void build(const SlotDay& day, const SlotEpisode& others, std::size_t first_call, Now now);
  void add_request(const Instance& from, std::int32_t request);

  SlotEpisode drawn_;
};

}  // namespace penstock::booking
