#include "penstock/domains/cage2/sim/mask.h"

#include <algorithm>

namespace penstock::cage2 {
namespace {

bool is_suspect(const Memory::Host& host) {
  constexpr std::uint8_t kScans = 2;  // the first is what it looks like: red's scan
  return host.num_scans >= kScans && host.active > host.repaired && host.active > host.analysed;
}

}  // namespace

bool is_futile(std::int64_t action, const Memory& memory) {
  const BlueMove move = blue_move(action);
  if (!move.is_decoy()) { return false; }
  const std::span<const Decoy> all = decoys_of(move.host);
  const auto found = std::ranges::find(all, move.decoy());
  return found == all.end() || (memory.at(move.host).decoys >> (found - all.begin()) & 1) != 0;
}

HostSet flagged_hosts(ObsBits obs, const Memory& memory) {
  HostSet flagged = 0;
  for (const std::uint8_t host : kDefended) {
    if (mark(obs, host) != Mark::no || is_suspect(memory.at(host))) { flagged |= bit(host); }
  }
  return flagged;
}

}  // namespace penstock::cage2
