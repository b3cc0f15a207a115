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
constexpr std::uint16_t k53 = 1U << 8;
constexpr std::uint16_t k68 = 1U << 9;
constexpr std::uint16_t k135 = 1U << 10;
constexpr std::uint16_t k445 = 1U << 11;
constexpr std::uint16_t kEphemeral = 1U << 12;
}  // namespace port

constexpr std::uint8_t bit(Exploit exploit) { return 1U << static_cast<unsigned>(exploit); }
constexpr std::uint8_t bit(Decoy decoy) { return 1U << static_cast<unsigned>(decoy); }

/// What listens on a host from the start.
struct HostServices {
  std::uint16_t ports = 0;
  std::uint8_t endpoints = 0;   // a port may be listened on twice
  std::uint8_t genuine = 0;     // exploits that find the service they need, one bit each
  std::uint8_t privileged = 0;  // of these, the ones that end with root or SYSTEM
  bool windows = false;
  bool guessable = true;  // an account whose password a brute force finds
};

struct Services {
  std::array<HostServices, kNumHosts> hosts;
};

const Services& services(bool fix_smb, bool fix_mysql);

/// What an exploit aims at.
constexpr std::array<std::uint16_t, kNumExploits> kExploitPort = {
    port::k139, port::k3389, port::k80, port::k443, port::k22, port::k3390, port::k25, port::k21};

enum class System : std::uint8_t { any, windows, linux };

struct DecoyKind {
  std::uint16_t needs_free = 0;
  System system = System::any;
  std::uint16_t opens = 0;
  std::uint8_t lures = 0;
};

constexpr DecoyKind kFixedVsftpd = {port::k21, System::linux, port::k21, 0};
constexpr std::array<DecoyKind, kNumDecoys> kDecoys = {{
    {port::k80, System::any, port::k80, bit(Exploit::http_rfi)},
    {port::k21, System::windows, port::k21, bit(Exploit::ftp_traversal)},
    {port::k25, System::linux, port::k25, bit(Exploit::haraka_rce)},
    {port::k139, System::windows, port::k139, bit(Exploit::eternal_blue)},
    {port::k22, System::any, port::k22, bit(Exploit::ssh_brute_force)},
    {port::k3389, System::windows, port::k3389, bit(Exploit::blue_keep)},
    {port::k443, System::any, port::k443, bit(Exploit::https_rfi)},
    {port::k21, System::linux, port::k80, bit(Exploit::http_rfi)},  // tests one port, opens another
}};

}  // namespace penstock::cage2
