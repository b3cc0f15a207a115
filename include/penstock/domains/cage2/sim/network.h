#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Scenario 2 of CAGE Challenge 2: thirteen hosts in three subnets. Words and numbers that the
/// whole module shares; docs/cage2/README.md tells the rules. The network itself is data, see
/// penstock/domains/cage2/sim/scenario.h; the numbers here are for what knows Scenario 2 alone.
namespace penstock::cage2 {

constexpr std::size_t kNumHosts = 13;            // of three subnets
constexpr std::size_t kNumActions = 145;         // sleep, monitor, and 11 kinds on 13 hosts
constexpr std::size_t kObsSize = 4 * kNumHosts;  // bits

/// "No host", "no exploit", "nothing drawn".
constexpr std::uint8_t kNone = 255;

/// Hosts are numbered alphabetically.
namespace host {
constexpr std::uint8_t kDefender = 0;
constexpr std::uint8_t kEnterprise0 = 1;
constexpr std::uint8_t kEnterprise1 = 2;
constexpr std::uint8_t kEnterprise2 = 3;
constexpr std::uint8_t kOpHost0 = 4;
constexpr std::uint8_t kOpServer0 = 7;
constexpr std::uint8_t kUser0 = 8;
constexpr std::uint8_t kUser1 = 9;
constexpr std::uint8_t kUser2 = 10;
constexpr std::uint8_t kUser3 = 11;
constexpr std::uint8_t kUser4 = 12;
}  // namespace host

/// A set of hosts, bit h for host h.
using HostSet = std::uint16_t;
constexpr HostSet kAllHosts = (1U << kNumHosts) - 1;
/// The set of one host, and whether a set has it; `host` below the hosts that a set has room for.
constexpr HostSet bit(std::uint8_t host) { return static_cast<HostSet>(1U << host); }
template <class Set>
constexpr bool has(Set set, std::uint8_t host) {
  return (set >> host & 1U) != 0;
}

/// In the order in which red gets through.
enum class Subnet : std::uint8_t { user, enterprise, operational };
constexpr std::size_t number_of(Subnet subnet) { return static_cast<std::size_t>(subnet); }
/// By Subnet. The Defender belongs to the enterprise subnet.
constexpr std::array<HostSet, 3> kSubnetHosts = {0b1'1111'0000'0000, 0b1111, 0b1111'0000};
/// The hosts that open the way from the user subnet to the operational one.
constexpr HostSet kEnterpriseServers = 0b1110;
/// Hosts that cost one point when lost; the others cost a tenth, User0 nothing.
constexpr HostSet kServers = kEnterpriseServers | bit(host::kOpServer0);

/// `host` below kNumHosts.
constexpr Subnet subnet_of(std::uint8_t host) {
  if (host >= host::kUser0) { return Subnet::user; }
  return host >= host::kOpHost0 ? Subnet::operational : Subnet::enterprise;
}

/// What the automatic monitor showed of a host in the last step.
enum class Activity : std::uint8_t { none = 0, scan = 1, exploit = 3 };
/// What Blue has been told about a host.
enum class Mark : std::uint8_t { no = 0, unknown = 1, user = 2, privileged = 3 };
/// How an action went.
enum class Flag : std::uint8_t { unknown, yes, no };

/// The observation as bits, four per host from host 0 on: two of activity (none 00, scan 10,
/// exploit 11), two of the mark (no 00, unknown 10, user 01, privileged 11).
using ObsBits = std::uint64_t;
/// A host's two bits each.
constexpr Activity activity(ObsBits obs, std::uint8_t host) {
  return static_cast<Activity>(obs >> 4 * host & 3U);
}
constexpr Mark mark(ObsBits obs, std::uint8_t host) {
  return static_cast<Mark>(obs >> (4 * host + 2) & 3U);
}

/// The same of up to 64 hosts, sixteen in a word.
struct WideObs {
  std::array<std::uint64_t, 4> words{};

  friend bool operator==(const WideObs&, const WideObs&) = default;
  template <class Archive>
  void state(Archive& archive) {
    archive(words);
  }
};
constexpr Activity activity(const WideObs& obs, std::uint8_t host) {
  return activity(obs.words[host / 16], host % 16);
}
constexpr Mark mark(const WideObs& obs, std::uint8_t host) {
  return mark(obs.words[host / 16], host % 16);
}

/// Worlds have two sizes, of one source: that of the challenge, in half a kilobyte, and one for
/// whatever a file or a generator brings.
struct ChallengeSize {
  using Set = HostSet;
  using Obs = ObsBits;
  static constexpr std::size_t kMaxHosts = kNumHosts;
  static constexpr bool kFixed = true;  // there are always as many
};
struct WideSize {
  using Set = std::uint64_t;
  using Obs = WideObs;
  static constexpr std::size_t kMaxHosts = 64;
  static constexpr bool kFixed = false;
};

/// What Blue can do. From `analyse` on an action has a host; the decoys stand in the order of
/// Decoy.
enum class BlueKind : std::uint8_t { sleep, monitor, analyse, remove, decoy_first, restore = 12 };
/// Alphabetical.
enum class Decoy : std::uint8_t { apache, femitter, haraka, smss, sshd, svchost, tomcat, vsftpd };
constexpr std::size_t kNumDecoys = 8;

/// A blue action taken apart.
struct BlueMove {
  BlueKind kind = BlueKind::sleep;
  std::uint8_t host = kNone;
  constexpr bool is_decoy() const {
    return kind >= BlueKind::decoy_first && kind < BlueKind::restore;
  }
  /// Only for a decoy.
  constexpr Decoy decoy() const {
    return static_cast<Decoy>(static_cast<int>(kind) - static_cast<int>(BlueKind::decoy_first));
  }
};

/// Blue's actions in a network with room for so many hosts: 145 of Scenario 2's.
constexpr std::int64_t num_actions(std::int64_t width) { return 2 + 11 * width; }
static_assert(num_actions(kNumHosts) == kNumActions);

/// Action `index` of num_actions(width); anything else is sleep.
constexpr BlueMove blue_move(std::int64_t index, std::int64_t width = kNumHosts) {
  if (index < 0 || index >= num_actions(width)) { return {}; }
  if (index < 2) { return {static_cast<BlueKind>(index), kNone}; }
  return {static_cast<BlueKind>(2 + (index - 2) / width),
          static_cast<std::uint8_t>((index - 2) % width)};
}
/// The way back: an index below num_actions(width). Sleep and monitor need no host, all others do.
constexpr std::int64_t action_index(BlueKind kind, std::uint8_t host = kNone,
                                    std::int64_t width = kNumHosts) {
  const auto number = static_cast<std::int64_t>(kind);
  return number < 2 ? number : 2 + width * (number - 2) + host;
}
/// The action that places a decoy on a host.
constexpr std::int64_t decoy_index(Decoy decoy, std::uint8_t host) {
  const int kind = static_cast<int>(BlueKind::decoy_first) + static_cast<int>(decoy);
  return action_index(static_cast<BlueKind>(kind), host);
}

/// What red can do.
enum class RedAction : std::uint8_t {
  sleep,
  discover_systems,   // the addresses of a subnet
  discover_services,  // the ports of a host
  exploit,
  escalate,
  impact,
};
/// The ways into a host; each aims at a port.
enum class Exploit : std::uint8_t {
  eternal_blue,
  blue_keep,
  http_rfi,
  https_rfi,
  ssh_brute_force,
  sql_injection,
  haraka_rce,
  ftp_traversal,
};
constexpr std::size_t kNumExploits = 8;

/// What red does in one step, with everything that chance decides about it.
struct RedMove {
  RedAction action = RedAction::sleep;
  std::uint8_t target = kNone;   // a host; a Subnet for discover_systems
  std::uint8_t exploit = kNone;  // an Exploit; kNone: red knows no port to aim at
  bool detected = false;         // an exploit's session is reported with its process
  std::uint8_t session = 0;      // the one to escalate, of those on the host
};

/// Names as the challenge spells them; static memory.
std::string_view host_name(std::uint8_t host);
std::string_view subnet_name(Subnet subnet);
std::string_view decoy_name(Decoy decoy);
std::string_view exploit_name(Exploit exploit);
/// "Restore Op_Server0"
std::string action_name(std::int64_t index);
/// "Exploit Enterprise1 by BlueKeep"
std::string move_name(const RedMove& move);

}  // namespace penstock::cage2
