#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "penstock/domains/cage2/sim/world.h"

/// What the arrays of a recording hold, for those who write and who read them; the format is
/// described in docs/cage2/README.md.
namespace penstock::cage2 {

constexpr std::size_t kObsBytes = 7;
constexpr std::size_t kInfoSize = 131;

/// Columns of the array `info`.
namespace column {
constexpr std::size_t kBlueFlag = 0;
constexpr std::size_t kRedAction = 1;
constexpr std::size_t kRedTarget = 2;
constexpr std::size_t kRedFlag = 3;
constexpr std::size_t kExploit = 4;
constexpr std::size_t kDetected = 5;
constexpr std::size_t kSession = 6;
constexpr std::size_t kStage = 7;
constexpr std::size_t kServiceUp = 8;
constexpr std::size_t kServiceKnown = 9;
constexpr std::size_t kAddresses = 10;
constexpr std::size_t kNames = 12;
constexpr std::size_t kHosts = 14;  // blocks of 13 from here on
}  // namespace column

/// What `info` holds of a host, in the order of its blocks.
using HostReadOut = std::array<std::uint8_t, 9>;
HostReadOut read_out(const World& world, std::uint8_t host);

}  // namespace penstock::cage2
