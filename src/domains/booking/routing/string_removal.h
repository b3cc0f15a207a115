#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/booking/routing/route_set.h"
#include "penstock/domains/booking/routing/string_draw.h"

namespace penstock::booking {

/// Which requests to take out: strings of neighbouring stops from routes that pass near one place,
/// so that what is freed is spatial and capacity slack in one spot.
class StringRemoval {
 public:
  explicit StringRemoval(const Instance& instance);

  /// Fills `removed`, which ends without doubles. The routes stay as they are.
  void pick(const RouteSet& routes, const StringSizes& sizes, Random& random,
            std::vector<std::int32_t>& removed);

 private:
  void take_string(const RouteSet& routes, std::int32_t vehicle, std::int32_t request,
                   double max_length, Random& random, std::vector<std::int32_t>& removed);
  void take(std::int32_t node, std::vector<std::int32_t>& removed);

  const Instance& instance_;
  std::vector<std::int32_t> near_;    // [requests, requests]: of each, all by distance
  std::vector<std::uint8_t> taken_;   // [requests]
  std::vector<std::uint8_t> ruined_;  // [vehicles]
};

}  // namespace penstock::booking
