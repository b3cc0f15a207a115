#include "penstock/domains/cage2/sim/network.h"

namespace penstock::cage2 {
namespace {

constexpr std::array<std::string_view, kNumHosts> kHostNames = {
    "Defender",   "Enterprise0", "Enterprise1", "Enterprise2", "Op_Host0", "Op_Host1", "Op_Host2",
    "Op_Server0", "User0",       "User1",       "User2",       "User3",    "User4"};
constexpr std::array<std::string_view, 3> kSubnetNames = {"User", "Enterprise", "Operational"};
constexpr std::array<std::string_view, kNumDecoys> kDecoyNames = {
    "Apache", "Femitter", "HarakaSMPT", "Smss", "SSHD", "Svchost", "Tomcat", "Vsftpd"};
constexpr std::array<std::string_view, kNumExploits> kExploitNames = {
    "EternalBlue",   "BlueKeep",     "HTTPRFI",   "HTTPSRFI",
    "SSHBruteForce", "SQLInjection", "HarakaRCE", "FTPDirectoryTraversal"};
constexpr std::array<std::string_view, 6> kRedNames = {
    "Sleep",   "DiscoverRemoteSystems", "DiscoverNetworkServices",
    "Exploit", "PrivilegeEscalate",     "Impact"};

std::string kind_name(const BlueMove& move) {
  if (move.is_decoy()) { return "Decoy" + std::string(decoy_name(move.decoy())); }
  switch (move.kind) {
    case BlueKind::monitor:
      return "Monitor";
    case BlueKind::analyse:
      return "Analyse";
    case BlueKind::remove:
      return "Remove";
    case BlueKind::restore:
      return "Restore";
    default:
      return "Sleep";
  }
}

}  // namespace

std::string_view host_name(std::uint8_t host) { return kHostNames.at(host); }
std::string_view subnet_name(Subnet subnet) { return kSubnetNames.at(static_cast<int>(subnet)); }
std::string_view decoy_name(Decoy decoy) { return kDecoyNames.at(static_cast<int>(decoy)); }
std::string_view exploit_name(Exploit exploit) {
  return kExploitNames.at(static_cast<int>(exploit));
}

std::string action_name(std::int64_t index) {
  const BlueMove move = blue_move(index);
  if (move.host == kNone) { return kind_name(move); }
  return kind_name(move) + " " + std::string(host_name(move.host));
}

std::string move_name(const RedMove& move) {
  std::string text(kRedNames.at(static_cast<int>(move.action)));
  if (move.action == RedAction::sleep) { return text; }
  text += ' ';
  if (move.action == RedAction::discover_systems) {
    return text += subnet_name(static_cast<Subnet>(move.target));
  }
  text += host_name(move.target);
  if (move.action == RedAction::exploit && move.exploit != kNone) {
    text += " by ";
    text += exploit_name(static_cast<Exploit>(move.exploit));
  }
  return text;
}

}  // namespace penstock::cage2
