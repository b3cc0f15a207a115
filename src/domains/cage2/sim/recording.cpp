#include "domains/cage2/sim/recording.h"

#include <bit>

namespace penstock::cage2 {
namespace {

std::uint8_t level(bool any, bool privileged) { return any ? (privileged ? 2 : 1) : 0; }

}  // namespace

HostReadOut read_out(const World& world, std::uint8_t host) {
  const HostState& at = world.at(host);
  const bool any = at.num_sessions != 0;
  const auto count = [](std::uint64_t set) -> std::uint8_t { return std::popcount(set); };
  return {level(any, at.privileged != 0),
          at.num_sessions,
          count(at.privileged),
          count(at.killable & ~at.privileged),
          level(any, (at.privileged & 1) != 0),
          at.decoys,
          at.num_vsftpd,
          static_cast<std::uint8_t>(has(world.with_malware(), host) ? 1 : 0),
          at.known_ports};
}

}  // namespace penstock::cage2
