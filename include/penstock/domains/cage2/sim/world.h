#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "penstock/domains/cage2/sim/network.h"
#include "penstock/domains/cage2/sim/scenario.h"

namespace penstock::cage2 {

/// How network events become Blue's table: as the challenge's wrapper does it, as CardiffUni
/// corrected it, or as CybORG++ did.
enum class Wrapper : std::uint8_t { v1, v2, dbg };

/// Which game is played. Everything off is the challenge's repository as it stands.
/// What each fix_ does is told by Simulator::Config.
struct Rules {
  Wrapper wrapper = Wrapper::v1;
  bool ghost_ports = false;  // of the leader board's day: red never forgets a port
  bool mail_breaks = false;  // of that day: a restored mail server cannot be exploited
  bool fix_vsftpd = false;
  bool fix_smb = false;
  bool fix_mysql = false;
  bool fix_remove_flag = false;
  bool fix_ssh_pid = false;
  bool fix_restore_ot = false;
  bool reward_user_sessions = false;
};

/// Connections that the monitor saw on one host within a step.
struct Events {
  std::uint8_t host = kNone;
  std::uint8_t count = 0;
  bool reverse_shell = false;  // one of them leads to port 4444 of the attacker
  std::uint16_t ports = 0;     // the distinct local ports, one bit each
};

/// What became of Blue's move.
struct BlueReport {
  Flag flag = Flag::unknown;
  std::uint8_t decoyed = kNone;   // the host where a decoy was placed
  std::uint8_t analysed = kNone;  // the host where a file of red's was found
};

/// What became of red's move, and what the monitor could see of it.
struct RedReport {
  Flag flag = Flag::unknown;
  Events events;
};

/// One host, 24 bytes. Session i is bit i of both sets, in the order of their beginning. There are
/// at most 64: no host gains one more often than every other step, so that episodes of up to 126
/// steps are exact; in longer ones a session beyond them is not kept.
struct HostState {
  static constexpr std::uint8_t kMaxSessions = 64;

  std::uint64_t privileged = 0;
  std::uint64_t killable = 0;     // Blue was told its process
  std::uint8_t num_sessions = 0;  // of red
  std::uint8_t reported = kNone;  // the session whose process Blue was told last, while it lives
  std::uint8_t open_ports = 0;    // of the eight that red knows exploits for, decoys included
  std::uint8_t decoys = 0;        // the kinds in place, one bit each
  std::uint8_t num_decoys = 0;    // in place, up to 255: a kind may come more than once
  std::uint8_t num_vsftpd = 0;    // the one kind that may
  std::uint8_t lures = 0;         // exploits that a decoy would catch, one bit each
  std::uint8_t known_ports = 0;   // what red remembers of its scans; 0: never scanned

  /// The newest; nothing happens when there are kMaxSessions.
  void add_session(bool is_privileged, bool is_killable);
  /// Ends the sessions that are killable and not privileged.
  void end_killable();

  template <class Archive>
  void state(Archive& archive) {
    archive(privileged, killable, num_sessions, reported, open_ports, decoys, num_decoys,
            num_vsftpd, lures, known_ports);
  }
};

/// What red has learnt about the network, ports aside. Nothing is forgotten within an episode.
template <class Set>
struct BasicKnowledge {
  Set addresses = 0;
  Set names = 0;
  std::uint8_t subnets = 0;  // bit s for Subnet s
  std::uint8_t service = 0;  // 1: that the OT service exists

  template <class Archive>
  void state(Archive& archive) {
    archive(addresses, names, subnets, service);
  }
};

using Knowledge = BasicKnowledge<HostSet>;

/// The true state of the network, and what each move does to it. Deterministic: chance is in the
/// moves.
/// A value without pointers to its own: copies are independent. Allocates nothing. The network must
/// outlive it.
template <class Size>
class BasicWorld {
 public:
  using Set = typename Size::Set;
  using Obs = typename Size::Obs;

  /// A network of Scenario 2's size where `Size` is the challenge's.
  BasicWorld(const Rules& rules, const Network& network);
  /// Scenario 2.
  explicit BasicWorld(const Rules& rules) : BasicWorld(rules, scenario2_network(rules)) {}

  /// Red has its own host (User0) and knows no more than that.
  void reset();
  /// Once per step, before red's. The host must exist where the kind needs one.
  BlueReport blue(BlueMove move);
  /// `move` must name a host (a subnet) that exists. A session that does not is the first one.
  RedReport red(const RedMove& move);
  /// What a scan of all ports leaves for the monitor.
  [[nodiscard]] Events scan_events(std::uint8_t host) const;
  /// What Blue sees at the end of the step.
  /// Once per step, after both moves; obs() keeps it.
  Obs observe(const BlueReport& blue, Events red, Events green);
  /// Ten times what the state costs Blue per step, Restore aside.
  /// In Scenario 2: 100 for the OT service being down; for each host lost, 10 if it is a server,
  /// else 1.
  [[nodiscard]] int cost_tenths() const;

  /// The exploits that red would consider for the host, one bit each.
  [[nodiscard]] std::uint8_t exploit_options(std::uint8_t host) const;

  [[nodiscard]] const Rules& rules() const { return rules_; }
  [[nodiscard]] const HostState& at(std::uint8_t host) const { return hosts_[host]; }
  [[nodiscard]] const Network& network() const { return *network_; }
  [[nodiscard]] std::size_t num_hosts() const {
    return Size::kFixed ? Size::kMaxHosts : network_->num_hosts;
  }
  [[nodiscard]] const BasicKnowledge<Set>& knowledge() const { return knowledge_; }
  [[nodiscard]] Set with_sessions() const { return with_sessions_; }
  [[nodiscard]] Set with_privileged() const { return with_privileged_; }
  [[nodiscard]] Set with_malware() const { return with_malware_; }  // where Analyse finds files
  [[nodiscard]] bool service_up() const { return service_up_ != 0; }
  [[nodiscard]] Obs obs() const { return obs_; }

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(hosts_, knowledge_, with_sessions_, with_privileged_, with_malware_, mail_broken_,
            service_up_, service_active_, service_pid_known_, obs_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void require_possible() const;
  [[nodiscard]] bool possible(std::uint8_t host) const;
  [[nodiscard]] bool open(Subnet subnet) const;
  [[nodiscard]] bool reachable(std::uint8_t host) const { return open(network_->subnets[host]); }
  void update_sets(std::uint8_t host);
  void set_mark(std::uint8_t host, Mark mark);
  void show(std::uint8_t decoyed, const Events& events);
  [[nodiscard]] Activity classify(bool decoyed, const Events& events) const;

  Flag remove(std::uint8_t host);
  void restore(std::uint8_t host);
  bool place(Decoy decoy, std::uint8_t host);

  Flag discover_systems(Subnet subnet);
  RedReport discover_services(std::uint8_t host);
  RedReport exploit(const RedMove& move);
  RedReport brute_force(std::uint8_t host, bool genuine);
  Flag escalate(std::uint8_t host, std::uint8_t session);
  Flag impact();

  Rules rules_;
  const Network* network_;
  Obs obs_{};
  Set with_sessions_ = 0;
  Set with_privileged_ = 0;
  Set with_malware_ = 0;
  Set mail_broken_ = 0;  // mail_breaks: restored, and the mail server's version unknown since
  BasicKnowledge<Set> knowledge_;
  std::uint8_t service_up_ = 1;  // the OT service; down it costs Blue
  std::uint8_t service_active_ = 1;
  std::uint8_t service_pid_known_ = 1;  // else Impact does not stop it
  std::array<HostState, Size::kMaxHosts> hosts_;
};

/// Scenario 2's.
using World = BasicWorld<ChallengeSize>;
extern template class BasicWorld<ChallengeSize>;
extern template class BasicWorld<WideSize>;

}  // namespace penstock::cage2
