#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/simulator.h"

namespace penstock::cage2::test {

inline Simulator make(const std::string& red, Simulator::Config config = {}) {
  config.red = red;
  return Simulator(config);
}

inline void reset(Simulator& simulator, std::uint64_t seed) {
  std::array<float, kObsSize> row{};
  simulator.reset(seed, {row, {}});
}

/// Everything an episode in progress is made of.
inline std::vector<std::byte> bytes_of(Simulator& simulator) {
  std::vector<std::byte> bytes;
  StateWriter writer(bytes);
  writer(simulator);
  return bytes;
}

inline std::int64_t random_action(Random& random) { return random.below(kNumActions); }

}  // namespace penstock::cage2::test
