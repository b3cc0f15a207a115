#pragma once
#include <cstdint>

#include "penstock/domains/cage2/sim/scenario.h"

namespace penstock::cage2 {

/// How many hosts a random network has, ends included.
struct NetworkSize {
  static constexpr std::int64_t kLeast = 5;
  std::int64_t least = kLeast;
  std::int64_t most = 50;  // at most Network::kMaxHosts
};

/// A variant of Scenario 2, a function of seed, size and rules. Hosts are of the kinds that
/// Scenario 2 has, in its three subnets; users lead to enterprise servers, one of these to the
/// goal, so that red can get to every host but a Defender's. Host 0 is the goal, host 1 red's own;
/// enterprise, operational and user hosts follow. Actions and observations have room for the most
/// hosts there may be. Allocates nothing.
void draw_network(std::uint64_t seed, const NetworkSize& size, const Rules& rules,
                  Network& network);

}  // namespace penstock::cage2
