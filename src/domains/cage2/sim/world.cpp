#include "penstock/domains/cage2/sim/world.h"

#include <algorithm>
#include <limits>

#include "domains/cage2/sim/services.h"
#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::uint8_t kBruteForceTries = 10;
constexpr std::uint64_t kMarks = 0xCCCC'CCCC'CCCC'CCCC;  // the two upper bits of every host
constexpr std::uint8_t kEnd = std::numeric_limits<std::uint8_t>::max();

/// Exploits by the eight ports that red remembers: one bit per port, one bit per exploit.
constexpr std::array<std::uint8_t, 256> kOptions = [] {
  std::array<std::uint8_t, 256> options{};
  for (unsigned ports = 0; ports < options.size(); ++ports) {
    for (unsigned e = 0; e < kNumExploits; ++e) {
      const bool open = (ports & kExploitPort[e]) != 0;
      const bool web = (ports & (port::k80 | port::k443)) != 0;
      if (open && (web || static_cast<Exploit>(e) != Exploit::sql_injection)) {
        options[ports] = options[ports] | 1U << e;
      }
    }
  }
  return options;
}();

constexpr std::uint64_t low_bits(std::uint8_t count) {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

constexpr std::uint8_t add_up_to_end(std::uint8_t a, std::uint8_t b) {
  return std::min<unsigned>(unsigned{a} + b, kEnd);
}

template <class Set>
constexpr Set set_of(std::uint8_t host) {
  return Set{1} << host;
}

// An observation is one word, or four of them.

void clear_activity(ObsBits& obs) { obs &= kMarks; }
void clear_activity(WideObs& obs) {
  for (ObsBits& word : obs.words) { word &= kMarks; }
}

void add_activity(ObsBits& obs, std::uint8_t host, Activity seen) {
  obs |= ObsBits{static_cast<std::uint8_t>(seen)} << 4 * host;
}
void add_activity(WideObs& obs, std::uint8_t host, Activity seen) {
  add_activity(obs.words[host / 16], host % 16, seen);
}

void put_mark(ObsBits& obs, std::uint8_t host, Mark mark) {
  const int shift = 4 * host + 2;
  obs = (obs & ~(ObsBits{3} << shift)) | ObsBits{static_cast<std::uint8_t>(mark)} << shift;
}
void put_mark(WideObs& obs, std::uint8_t host, Mark mark) {
  put_mark(obs.words[host / 16], host % 16, mark);
}

/// That it says nothing of hosts there are not.
bool fits(ObsBits obs, std::size_t num_hosts) {
  return num_hosts >= 16 || obs >> 4 * num_hosts == 0;
}
bool fits(const WideObs& obs, std::size_t num_hosts) {
  for (std::size_t i = 0; i < obs.words.size(); ++i) {
    if (!fits(obs.words[i], num_hosts - std::min(num_hosts, 16 * i))) { return false; }
  }
  return true;
}

HostState fresh(const HostServices& services) {
  HostState host;
  host.open_ports = services.ports;
  return host;
}

}  // namespace

void HostState::add_session(bool is_privileged, bool is_killable) {
  if (num_sessions == kMaxSessions) { return; }
  privileged |= std::uint64_t{is_privileged} << num_sessions;
  killable |= std::uint64_t{is_killable} << num_sessions;
  if (is_killable) { reported = num_sessions; }
  ++num_sessions;
}

void HostState::end_killable() {
  const std::uint64_t ended = killable & ~privileged;
  if (ended == 0) { return; }
  HostState left;
  for (std::uint8_t i = 0; i < num_sessions; ++i) {
    if ((ended >> i & 1) != 0) { continue; }
    if (i == reported) { left.reported = left.num_sessions; }
    left.privileged |= (privileged >> i & 1) << left.num_sessions;
    left.killable |= (killable >> i & 1) << left.num_sessions;
    ++left.num_sessions;
  }
  privileged = left.privileged;
  killable = left.killable;
  num_sessions = left.num_sessions;
  reported = left.reported;
}

template <class Size>
BasicWorld<Size>::BasicWorld(const Rules& rules, const Network& network)
    : rules_(rules), network_(&network) {
  reset();
}

template <class Size>
void BasicWorld<Size>::reset() {
  for (std::size_t h = 0; h < num_hosts(); ++h) { hosts_[h] = fresh(network_->services[h]); }
  const std::uint8_t start = network_->start;
  hosts_[start].add_session(true, false);
  with_sessions_ = with_privileged_ = set_of<Set>(start);
  with_malware_ = mail_broken_ = 0;
  knowledge_ = {.addresses = with_sessions_, .names = with_sessions_};
  knowledge_.subnets = 1U << number_of(network_->subnets[start]);
  service_up_ = service_active_ = service_pid_known_ = 1;
  obs_ = {};
}

// ---- Blue

template <class Size>
inline BlueReport BasicWorld<Size>::blue(BlueMove move) {
  BlueReport report;
  report.flag = Flag::yes;
  if (move.is_decoy()) {
    if (place(move.decoy(), move.host)) {
      report.decoyed = move.host;
    } else {
      report.flag = Flag::no;
    }
    return report;
  }
  switch (move.kind) {
    case BlueKind::analyse:
      if (has(with_malware_, move.host)) { report.analysed = move.host; }
      break;
    case BlueKind::remove:
      report.flag = remove(move.host);
      break;
    case BlueKind::restore:
      restore(move.host);
      break;
    case BlueKind::sleep:
      report.flag = Flag::unknown;
      break;
    default:
      break;
  }
  return report;
}

template <class Size>
Flag BasicWorld<Size>::remove(std::uint8_t host) {
  HostState& at = hosts_[host];
  const bool ends_reported = at.reported != kNone && (at.privileged >> at.reported & 1) == 0;
  at.end_killable();
  update_sets(host);
  if (mark(obs_, host) != Mark::no) { set_mark(host, Mark::unknown); }
  return ends_reported || !rules_.fix_remove_flag ? Flag::yes : Flag::no;
}

template <class Size>
void BasicWorld<Size>::restore(std::uint8_t host) {
  HostState& at = hosts_[host];
  const std::uint8_t known_ports = at.known_ports;
  at = fresh(network_->services[host]);
  at.known_ports = known_ports;
  if (host == network_->start) { at.add_session(true, false); }  // red's own way in stays
  update_sets(host);
  with_malware_ &= ~set_of<Set>(host);
  if (rules_.mail_breaks) { mail_broken_ |= set_of<Set>(host); }
  if (host == network_->goal) {
    service_up_ = service_active_ = 1;
    service_pid_known_ = rules_.fix_restore_ot ? 1 : 0;
  }
  set_mark(host, Mark::no);
}

template <class Size>
bool BasicWorld<Size>::place(Decoy decoy, std::uint8_t host) {
  const DecoyKind& kind = network_->decoys[static_cast<std::size_t>(decoy)];
  const bool windows = network_->services[host].windows;
  HostState& at = hosts_[host];
  if ((at.open_ports & kind.needs_free) != 0) { return false; }
  if (kind.system == (windows ? System::linux : System::windows)) { return false; }
  at.open_ports |= kind.opens;
  at.lures |= kind.lures;
  at.decoys |= bit(decoy);
  at.num_decoys = add_up_to_end(at.num_decoys, 1);
  if (decoy == Decoy::vsftpd) { at.num_vsftpd = add_up_to_end(at.num_vsftpd, 1); }
  return true;
}

// ---- Red

template <class Size>
RedReport BasicWorld<Size>::red(const RedMove& move) {
  switch (move.action) {
    case RedAction::discover_systems:
      return {discover_systems(static_cast<Subnet>(move.target)), {}};
    case RedAction::discover_services:
      return discover_services(move.target);
    case RedAction::exploit:
      return exploit(move);
    case RedAction::escalate:
      return {escalate(move.target, move.session), {}};
    case RedAction::impact:
      return {impact(), {}};
    default:
      return {};
  }
}

template <class Size>
bool BasicWorld<Size>::open(Subnet subnet) const {
  const Network::Set gates = network_->gates[number_of(subnet)];
  return gates == 0 || (with_sessions_ & gates) != 0;
}

template <class Size>
Flag BasicWorld<Size>::discover_systems(Subnet subnet) {
  const std::size_t number = number_of(subnet);
  if (!open(subnet)) { return Flag::no; }
  knowledge_.addresses |= network_->subnet_hosts[number];
  knowledge_.subnets |= 1U << number;
  return Flag::yes;
}

template <class Size>
Events BasicWorld<Size>::scan_events(std::uint8_t host) const {
  const HostServices& base = network_->services[host];
  const HostState& at = hosts_[host];
  return {.host = host,
          .count = add_up_to_end(base.endpoints, at.num_decoys),
          .ports = static_cast<std::uint16_t>(base.ports | at.open_ports)};
}

template <class Size>
RedReport BasicWorld<Size>::discover_services(std::uint8_t host) {
  if (!reachable(host)) { return {Flag::yes, {}}; }
  HostState& at = hosts_[host];
  // On the leader board's day a scan only ever added ports.
  const unsigned kept = rules_.ghost_ports ? at.known_ports : 0U;
  at.known_ports = kept | at.open_ports;
  return {Flag::yes, scan_events(host)};
}

template <class Size>
std::uint8_t BasicWorld<Size>::exploit_options(std::uint8_t host) const {
  return kOptions[hosts_[host].known_ports];
}

template <class Size>
RedReport BasicWorld<Size>::exploit(const RedMove& move) {
  const std::uint8_t host = move.target;
  HostState& at = hosts_[host];
  if (at.known_ports == 0 || move.exploit >= kNumExploits || !reachable(host)) {
    return {Flag::no, {}};
  }
  const HostServices& base = network_->services[host];
  const auto kind = static_cast<Exploit>(move.exploit);
  const bool genuine = (base.genuine & bit(kind)) != 0;
  if (!genuine && (at.lures & bit(kind)) == 0) { return {Flag::no, {}}; }
  if (kind == Exploit::ssh_brute_force) { return brute_force(host, genuine); }

  Events seen{.host = host, .count = 1, .ports = kExploitPort[move.exploit]};
  if (!genuine) {
    seen.count = 2;
    return {Flag::no, seen};
  }
  if (kind == Exploit::haraka_rce && has(mail_broken_, host)) { return {Flag::no, seen}; }
  at.add_session((base.privileged & bit(kind)) != 0, move.detected);
  update_sets(host);
  with_malware_ |= set_of<Set>(host);
  knowledge_.names |= set_of<Set>(host);
  if (move.detected) {
    seen.count = 2;
    seen.reverse_shell = true;
    seen.ports |= port::kEphemeral;
  }
  return {Flag::yes, seen};
}

/// Loud, and Blue is not told the process of the session that it ends with.
template <class Size>
RedReport BasicWorld<Size>::brute_force(std::uint8_t host, bool genuine) {
  Events seen{.host = host, .count = kBruteForceTries, .ports = port::k22};
  if (!genuine || !network_->services[host].guessable) { return {Flag::no, seen}; }
  hosts_[host].add_session(false, rules_.fix_ssh_pid);
  update_sets(host);
  knowledge_.names |= set_of<Set>(host);
  ++seen.count;
  return {Flag::yes, seen};
}

template <class Size>
Flag BasicWorld<Size>::escalate(std::uint8_t host, std::uint8_t session) {
  HostState& at = hosts_[host];
  if (at.num_sessions == 0) { return Flag::no; }
  if (at.privileged == 0) {
    at.privileged = std::uint64_t{1} << (session < at.num_sessions ? session : 0);
    update_sets(host);
    with_malware_ |= set_of<Set>(host);
  }
  knowledge_.subnets |= 1U << number_of(network_->subnets[host]);
  knowledge_.addresses |= network_->leads_to[host];
  if (host == network_->goal) { knowledge_.service = 1; }
  return Flag::yes;
}

template <class Size>
Flag BasicWorld<Size>::impact() {
  if (!has(with_sessions_, network_->goal) || knowledge_.service == 0) { return Flag::no; }
  if (service_active_ != 0) {
    service_active_ = 0;
    if (service_pid_known_ != 0) { service_up_ = 0; }
  }
  return Flag::yes;
}

// ---- What Blue sees and pays

template <class Size>
typename BasicWorld<Size>::Obs BasicWorld<Size>::observe(const BlueReport& blue, Events red,
                                                         Events green) {
  clear_activity(obs_);
  if (green.host == red.host && red.host != kNone) {
    red.count = add_up_to_end(red.count, green.count);
    red.ports |= green.ports;
    green = {};
  }
  // A decoy alone shows nothing in any wrapper; with events it changes how they look.
  if (red.host != kNone) { show(blue.decoyed, red); }
  if (green.host != kNone) { show(blue.decoyed, green); }
  if (blue.analysed != kNone) { set_mark(blue.analysed, Mark::privileged); }
  return obs_;
}

template <class Size>
void BasicWorld<Size>::show(std::uint8_t decoyed, const Events& events) {
  const Activity seen = classify(decoyed == events.host, events);
  add_activity(obs_, events.host, seen);
  if (seen == Activity::exploit) { set_mark(events.host, Mark::user); }
}

template <class Size>
Activity BasicWorld<Size>::classify(bool decoyed, const Events& events) const {
  const int entries = events.count + (decoyed ? 1 : 0);
  const std::uint16_t all_but_one = events.ports & (events.ports - 1);
  const bool one_port = all_but_one == 0;
  const bool many_ports = (all_but_one & (all_but_one - 1)) != 0;  // three or more
  if (rules_.wrapper == Wrapper::dbg && events.reverse_shell) { return Activity::exploit; }
  if (entries >= 3 && many_ports) { return Activity::scan; }
  if (events.reverse_shell || (entries >= 3 && one_port)) { return Activity::exploit; }
  if (decoyed && rules_.wrapper != Wrapper::v2) { return Activity::none; }
  return Activity::scan;
}

template <class Size>
int BasicWorld<Size>::cost_tenths() const {
  const Set paid = rules_.reward_user_sessions ? with_sessions_ : with_privileged_;
  int cost = service_up_ != 0 ? 0 : network_->service_tenths;
  for (std::size_t i = 0; i < sizeof(Set); ++i) {
    cost += network_->cost_tenths[i][paid >> 8 * i & 0xFF];
  }
  return cost;
}

// ---- Bookkeeping

template <class Size>
void BasicWorld<Size>::update_sets(std::uint8_t host) {
  const Set others = ~set_of<Set>(host);
  const HostState& at = hosts_[host];
  const auto here = [host](bool in) -> Set { return Set{in} << host; };
  with_sessions_ = (with_sessions_ & others) | here(at.num_sessions != 0);
  with_privileged_ = (with_privileged_ & others) | here(at.privileged != 0);
}

template <class Size>
void BasicWorld<Size>::set_mark(std::uint8_t host, Mark mark) {
  put_mark(obs_, host, mark);
}

template <class Size>
bool BasicWorld<Size>::possible(std::uint8_t host) const {
  const HostState& at = hosts_[host];
  const std::uint64_t sessions = low_bits(at.num_sessions);
  const bool reported_lives = at.reported == kNone || at.reported < at.num_sessions;
  return at.num_sessions <= HostState::kMaxSessions && reported_lives &&
         ((at.privileged | at.killable) & ~sessions) == 0 &&
         has(with_sessions_, host) == (at.num_sessions != 0) &&
         has(with_privileged_, host) == (at.privileged != 0);
}

template <class Size>
void BasicWorld<Size>::require_possible() const {
  constexpr std::uint8_t kAllSubnets = 7;
  const Set sets = with_sessions_ | with_privileged_ | with_malware_ | mail_broken_ |
                   knowledge_.addresses | knowledge_.names;
  bool good = (sets & ~network_->all()) == 0 && knowledge_.subnets <= kAllSubnets &&
              knowledge_.service <= 1 && service_up_ <= 1 && service_active_ <= 1 &&
              service_pid_known_ <= 1 && fits(obs_, num_hosts());
  for (std::size_t h = 0; h < num_hosts(); ++h) { good = good && possible(h); }
  if (!good) { throw DataError("env state: a value that no episode of cage2 can have"); }
}

template class BasicWorld<ChallengeSize>;
template class BasicWorld<WideSize>;

}  // namespace penstock::cage2
