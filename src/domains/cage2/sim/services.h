#pragma once
#include <array>
#include <cstdint>

#include "penstock/domains/cage2/sim/network.h"

namespace penstock::cage2 {

/// Local ports as bits. The first eight are those that exploits aim at.
namespace port {
constexpr std::uint16_t k21 = 1U << 0;
constexpr std::uint16_t k22 = 1U << 1;
constexpr std::uint16_t k25 = 1U << 2;
constexpr std::uint16_t k80 = 1U << 3;
constexpr std::uint16_t k139 = 1U << 4;
constexpr std::uint16_t k443 = 1U << 5;
constexpr std::uint16_t k3389 = 1U << 6;
constexpr std::uint16_t k3390 = 1U << 7;
constexpr std::uint16_t kEphemeral = 1U << 12;
/// By bit; the ephemeral one has no number.
constexpr std::array<int, 12> kNumbers = {21, 22, 25, 80, 139, 443, 3389, 3390, 53, 68, 135, 445};
constexpr std::size_t kNumAimedAt = 8;
}  // namespace port

constexpr std::uint8_t bit(Exploit exploit) { return 1U << static_cast<unsigned>(exploit); }
constexpr std::uint8_t bit(Decoy decoy) { return 1U << static_cast<unsigned>(decoy); }

/// What an exploit aims at.
constexpr std::array<std::uint16_t, kNumExploits> kExploitPort = {
    port::k139, port::k3389, port::k80, port::k443, port::k22, port::k3390, port::k25, port::k21};

}  // namespace penstock::cage2
