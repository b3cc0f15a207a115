#include "penstock/domains/cage2/sim/memory.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

// By how much red likes the exploit that the decoy catches. Vsftpd catches what Apache does, and so
// stands only where Apache cannot.
constexpr std::array<Decoy, 3> kOnGateway = {Decoy::haraka, Decoy::tomcat, Decoy::apache};
constexpr std::array<Decoy, 1> kOnInternal = {Decoy::femitter};
constexpr std::array<Decoy, 4> kOnUser1 = {Decoy::tomcat, Decoy::apache, Decoy::smss,
                                           Decoy::svchost};
constexpr std::array<Decoy, 4> kOnUser2 = {Decoy::femitter, Decoy::tomcat, Decoy::apache,
                                           Decoy::sshd};
constexpr std::array<Decoy, 2> kOnUser3 = {Decoy::sshd, Decoy::vsftpd};
constexpr std::array<Decoy, 1> kOnUser4 = {Decoy::vsftpd};

constexpr float kLongEpisode = 100;  // what counts as the end of the clock
constexpr std::array<std::int32_t, 4> kPhases = {4, 8, 30, 50};
constexpr std::size_t kNumTimes = 4 + kPhases.size();
constexpr std::size_t kNumSubnets = kSubnetHosts.size();
constexpr std::size_t kNumProgress = 3 * kNumSubnets + 1;
constexpr std::size_t kManyScans = 4;
constexpr std::size_t kManyExploits = 3;

void count(std::uint8_t& number) {
  if (number < std::numeric_limits<std::uint8_t>::max()) { ++number; }
}

// Not a choice of two constants: what a host shows is hard to predict, and a branch costs more.
constexpr float bit_of(bool holds) { return static_cast<float>(holds); }

// Every step writes some 250 numbers: divisions and sums of them are looked up.

/// 1 / number, and nothing of 0.
constexpr auto kInverse = [] {
  std::array<float, 128> of{};
  for (std::size_t n = 1; n < of.size(); ++n) { of[n] = 1.0F / static_cast<float>(n); }
  return of;
}();

/// Of 0, 1, ... kMost and more, the share of kMost.
template <std::size_t kMost>
float bounded(std::size_t number) {
  static constexpr std::array<float, kMost + 1> kShares = [] {
    std::array<float, kMost + 1> of{};
    for (std::size_t n = 0; n <= kMost; ++n) { of[n] = static_cast<float>(n) / kMost; }
    return of;
  }();
  return kShares[std::min(number, kMost)];
}

/// A number for each of the bits of a set of decoys, or lures.
constexpr auto kBits = [] {
  std::array<std::array<float, kMaxDecoysOfHost>, 1U << kMaxDecoysOfHost> of{};
  for (std::size_t set = 0; set < of.size(); ++set) {
    for (std::size_t i = 0; i < kMaxDecoysOfHost; ++i) { of[set][i] = bit_of(set >> i & 1U); }
  }
  return of;
}();

/// Of the hosts of a subnet, as a share of the largest.
float share(HostSet hosts, std::size_t subnet) {
  static constexpr auto kShares = [] {  // sums, as policies have learned them
    std::array<float, 1U << 5> of{};
    for (std::size_t set = 0; set < of.size(); ++set) {
      for (int n = 0; n < std::popcount(set); ++n) { of[set] += 0.2F; }
    }
    return of;
  }();
  const HostSet all = kSubnetHosts[subnet];
  return kShares[(hosts & all) >> std::countr_zero(all)];
}

/// The place of a decoy among those of the host, or past the end.
std::size_t place_of(Decoy decoy, std::uint8_t host) {
  const std::span<const Decoy> all = decoys_of(host);
  return std::ranges::find(all, decoy) - all.begin();
}

/// Sleep and Monitor, Analyse, Remove, decoys, Restore.
std::size_t family(BlueKind kind) {
  switch (kind) {
    case BlueKind::sleep:
    case BlueKind::monitor:
      return 0;
    case BlueKind::analyse:
      return 1;
    case BlueKind::remove:
      return 2;
    case BlueKind::restore:
      return 4;
    default:
      return 3;
  }
}
constexpr std::size_t kNumFamilies = 5;

enum class MacroKind : std::uint8_t { analyse, remove, restore, decoy };

}  // namespace

std::span<const Decoy> decoys_of(std::uint8_t host) {
  switch (host) {
    case host::kEnterprise1:
    case host::kEnterprise2:
      return kOnInternal;
    case host::kUser0:
    case host::kUser1:
      return kOnUser1;
    case host::kUser2:
      return kOnUser2;
    case host::kUser3:
      return kOnUser3;
    case host::kUser4:
      return kOnUser4;
    default:
      return kOnGateway;
  }
}

std::int64_t Memory::next_decoy(std::uint8_t host) const {
  const std::span<const Decoy> all = decoys_of(host);
  const std::size_t place = std::countr_one(hosts_[host].decoys);
  return decoy_index(all[place < all.size() ? place : 0], host);
}

void Memory::note(std::int64_t action, Flag flag, ObsBits obs) {
  ++steps_;
  note_action(blue_move(action), flag);
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    const Activity seen = activity(obs, h);
    if (seen != Activity::none) { note_activity(h, seen); }
  }
}

void Memory::note_action(BlueMove move, Flag flag) {
  last_kind_ = move.kind;
  last_flag_ = flag;
  if (move.host == kNone) { return; }
  Host& at = hosts_[move.host];
  if (move.is_decoy()) {
    const std::size_t place = place_of(move.decoy(), move.host);
    const bool known = place < decoys_of(move.host).size();
    if (flag == Flag::yes && known) { at.decoys |= 1U << place; }
    return;
  }
  if (move.kind == BlueKind::analyse) { at.analysed = steps_; }
  if (move.kind == BlueKind::remove || move.kind == BlueKind::restore) { at.repaired = steps_; }
  if (move.kind == BlueKind::restore) {
    at.decoys = 0;
    count(at.num_restores);
  }
}

void Memory::note_activity(std::uint8_t host, Activity seen) {
  Host& at = hosts_[host];
  if (at.active == kNever) { ++num_seen_; }
  at.active = quiet_since_ = steps_;
  if (first_active_ == kNone) { first_active_ = host; }
  if (seen == Activity::exploit) {
    at.exploited = steps_;
    count(at.num_exploits);
  } else {
    at.lures |= at.decoys;
    count(at.num_scans);
  }
}

float Memory::recency(std::int32_t step) const {
  const std::size_t was = step != kNever;  // 0 or 1, for a mask: no branch, as in bit_of()
  const std::size_t number = (0 - was) & static_cast<std::size_t>(1 + steps_ - step);
  if (number < kInverse.size()) [[likely]] { return kInverse[number]; }
  return 1.0F / static_cast<float>(number);
}

void Memory::write(std::span<float> row) const {
  for (const Host& host : hosts_) {
    write_host(host, row.first(kFeaturesOfHost));
    row = row.subspan(kFeaturesOfHost);
  }
  for (const std::uint8_t h : kDefended) {
    const Host& at = hosts_[h];
    std::ranges::copy(kBits[at.decoys], row.begin());
    std::ranges::copy(kBits[at.lures], row.begin() + kMaxDecoysOfHost);
    row = row.subspan(2 * kMaxDecoysOfHost);
  }
  write_global(row);
}

void Memory::write_host(const Host& host, std::span<float> row) const {
  row[0] = bit_of(host.active != kNever);
  row[1] = bit_of((host.active != kNever) & (host.active == quiet_since_));
  row[2] = recency(host.active);
  row[3] = recency(host.exploited);
  row[4] = recency(host.repaired);
  row[5] = bit_of((host.exploited != kNever) & (host.exploited >= host.repaired));  // not answered
  row[6] = bit_of(host.analysed > std::max(host.active, host.repaired));  // looked at since
  row[7] = bit_of(host.num_restores > 0);
  row[8] = bounded<kManyScans>(host.num_scans);
  row[9] = bounded<kManyExploits>(host.num_exploits);
}

void Memory::write_global(std::span<float> row) const {
  std::ranges::fill(row, 0.0F);
  write_time(row.first(kNumTimes));
  row = row.subspan(kNumTimes);
  row[family(last_kind_)] = 1.0F;
  row = row.subspan(kNumFamilies);
  // Which user host red turned to first: a script goes on with it, a wanderer to the next.
  if (first_active_ != kNone && first_active_ >= host::kUser0) {
    row[first_active_ - host::kUser0] = 1.0F;
  }
  row = row.subspan(kNumHosts - host::kUser0);
  write_progress(row);
  static_assert(kNumTimes + kNumFamilies + (kNumHosts - host::kUser0) + kNumProgress == kNumGlobal);
}

void Memory::write_time(std::span<float> row) const {
  row[0] = std::min(steps_ / kLongEpisode, 1.0F);
  row[1] = recency(quiet_since_);
  row[2] = static_cast<float>(num_seen_) / kNumHosts;
  row[3] = bit_of(last_flag_ == Flag::yes);
  for (std::size_t i = 0; i < kPhases.size(); ++i) { row[4 + i] = bit_of(steps_ < kPhases[i]); }
}

/// By subnet, the shares of hosts that were active, that were exploited, and that have decoys.
void Memory::write_progress(std::span<float> row) const {
  HostSet active = 0;
  HostSet exploited = 0;
  HostSet with_decoys = 0;
  for (std::size_t h = 0; h < kNumHosts; ++h) {
    active |= HostSet{hosts_[h].active != kNever} << h;
    exploited |= HostSet{hosts_[h].exploited != kNever} << h;
    with_decoys |= HostSet{hosts_[h].decoys != 0} << h;
  }
  for (std::size_t subnet = 0; subnet < kNumSubnets; ++subnet) {
    row[subnet] = share(active, subnet);
    row[kNumSubnets + subnet] = share(exploited, subnet);
    row[2 * kNumSubnets + subnet] = share(with_decoys, subnet);
  }
  row[3 * kNumSubnets] = recency(0);
}

void Memory::require_possible() const {
  const auto step = [this](std::int32_t at) { return at >= kNever && at <= steps_; };
  bool good = steps_ >= 0 && step(quiet_since_) && num_seen_ <= kNumHosts &&
              (first_active_ == kNone || first_active_ < kNumHosts) && last_flag_ <= Flag::no &&
              last_kind_ <= BlueKind::restore;
  for (const Host& at : hosts_) {
    good = good && step(at.active) && step(at.exploited) && step(at.repaired) &&
           step(at.analysed) && at.decoys < 1U << kMaxDecoysOfHost &&
           at.lures < 1U << kMaxDecoysOfHost;
  }
  if (!good) { throw DataError("env state: a value that no episode of cage2_defender can have"); }
}

std::int64_t macro_action(std::int64_t macro, const Memory& memory) {
  if (macro < 1 || macro >= static_cast<std::int64_t>(kNumMacros)) { return 0; }
  const std::size_t number = macro - 1;
  const std::uint8_t host = kDefended[number % kNumDefended];
  switch (static_cast<MacroKind>(number / kNumDefended)) {
    case MacroKind::analyse:
      return action_index(BlueKind::analyse, host);
    case MacroKind::remove:
      return action_index(BlueKind::remove, host);
    case MacroKind::restore:
      return action_index(BlueKind::restore, host);
    default:
      return memory.next_decoy(host);
  }
}

}  // namespace penstock::cage2
