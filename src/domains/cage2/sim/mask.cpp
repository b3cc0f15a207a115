#include "penstock/domains/cage2/sim/mask.h"

#include <algorithm>

namespace penstock::cage2 {
namespace {

bool is_suspect(const Memory::Host& host) {
  constexpr std::uint8_t kScans = 2;  // the first is what it looks like: red's scan
  return host.num_scans >= kScans && host.active > host.repaired && host.active > host.analysed;
}

}  // namespace

std::uint8_t fixed_host(std::int64_t action) {
  const BlueMove move = blue_move(action);
  return move.kind == BlueKind::remove || move.kind == BlueKind::restore ? move.host : kNone;
}

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

void write_mask(ObsBits obs, const Memory& memory, const Order* order, std::span<bool> open) {
  const bool macros = open.size() == kNumMacros;
  const HostSet fixable =
      order != nullptr ? most_urgent(*order, flagged_hosts(obs, memory)) : kAllHosts;
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto choice = static_cast<std::int64_t>(i);
    const std::int64_t action = macros ? macro_action(choice, memory) : choice;
    const std::uint8_t host = fixed_host(action);
    open[i] = host == kNone ? !is_futile(action, memory) : has(fixable, host);
  }
}

}  // namespace penstock::cage2
