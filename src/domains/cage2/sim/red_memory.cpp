#include "penstock/domains/cage2/sim/red_memory.h"

#include <algorithm>
#include <limits>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::size_t kSubnets = 3;
constexpr std::size_t kKinds = 6;
constexpr std::size_t kFlags = 3;
constexpr std::size_t kKnownPorts = 8;
constexpr float kWholeEpisode = 100;
constexpr float kManyFailures = 4;

constexpr std::array<RedAction, 3> kOnHosts = {RedAction::discover_services, RedAction::exploit,
                                               RedAction::escalate};
constexpr std::size_t kFirstOnHosts = 1 + kSubnets;
static_assert(kFirstOnHosts + kOnHosts.size() * kNumHosts + 1 == kNumRedActions);

float one_if(bool holds) { return holds ? 1.0F : 0.0F; }

void add_one(std::uint8_t& number) {
  if (number < std::numeric_limits<std::uint8_t>::max()) { ++number; }
}

}  // namespace

Intent red_intent(std::int64_t index) {
  if (index < 1 || index >= std::int64_t{kNumRedActions}) { return {}; }
  const std::size_t number = index;
  if (number < kFirstOnHosts) { return {RedAction::discover_systems, bit(number - 1)}; }
  if (number + 1 == kNumRedActions) { return {RedAction::impact, bit(host::kOpServer0)}; }
  const std::size_t place = number - kFirstOnHosts;
  return {kOnHosts[place / kNumHosts], bit(place % kNumHosts)};
}

void RedMemory::note(const RedMove& move, Flag flag) {
  ++steps_;
  last_action_ = move.action;
  last_flag_ = flag;
  if (move.action == RedAction::sleep) { return; }
  if (move.action == RedAction::discover_systems) {
    if (flag == Flag::yes) { discovered_ |= 1U << move.target; }
    return;
  }
  note_host(move, flag == Flag::yes);
}

void RedMemory::note_host(const RedMove& move, bool good) {
  Host& at = hosts_[move.target];
  at.last = steps_;
  if (move.action == RedAction::discover_services) {
    add_one(at.num_scans);
    return;
  }
  if (good) {
    at.num_failures = 0;
  } else {
    add_one(at.num_failures);
  }
  if (move.action == RedAction::exploit) {
    at.taken = good || at.taken != 0 ? 1 : 0;
  } else {
    at.escalated = good ? 1 : 0;
    if (!good) { at.taken = 0; }
  }
}

void RedMemory::write(const World& world, std::span<float> row) const {
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    write_host(world, h, row.first(kFeaturesOfHost));
    row = row.subspan(kFeaturesOfHost);
  }
  std::ranges::fill(row, 0.0F);
  const Knowledge& known = world.knowledge();
  for (std::size_t s = 0; s < kSubnets; ++s) {
    row[s] = one_if((known.subnets >> s & 1U) != 0);
    row[kSubnets + s] = one_if((discovered_ >> s & 1U) != 0);
  }
  row = row.subspan(2 * kSubnets);
  row[static_cast<std::size_t>(last_action_)] = 1.0F;
  row = row.subspan(kKinds);
  row[static_cast<std::size_t>(last_flag_)] = 1.0F;
  row = row.subspan(kFlags);
  row[0] = one_if(known.service != 0);
  row[1] = std::min(steps_ / kWholeEpisode, 1.0F);
  static_assert(2 * kSubnets + kKinds + kFlags + 2 == kNumGlobal);
}

void RedMemory::write_host(const World& world, std::uint8_t host, std::span<float> row) const {
  const Host& at = hosts_[host];
  row[0] = one_if(has(world.knowledge().addresses, host));
  row[1] = one_if(has(world.knowledge().names, host));
  row[2] = one_if(at.taken != 0);
  row[3] = one_if(at.escalated != 0);
  row[4] = std::min(at.num_failures / kManyFailures, 1.0F);
  row[5] = at.last < 0 ? 0.0F : 1.0F / (1 + steps_ - at.last);
  row[6] = std::min(at.num_scans / kManyFailures, 1.0F);
  for (std::size_t port = 0; port < kKnownPorts; ++port) {
    row[7 + port] = one_if((world.at(host).known_ports >> port & 1U) != 0);
  }
}

void RedMemory::write_mask(const World& world, std::span<bool> legal) {
  const Knowledge& known = world.knowledge();
  for (std::size_t s = 0; s < kSubnets; ++s) { legal[1 + s] = (known.subnets >> s & 1U) != 0; }
  for (std::uint8_t h = 0; h < kNumHosts; ++h) {
    legal[kFirstOnHosts + h] = has(known.addresses, h);
    legal[kFirstOnHosts + kNumHosts + h] = has(known.addresses, h) && world.exploit_options(h) != 0;
    legal[kFirstOnHosts + 2 * kNumHosts + h] = has(known.names, h);
  }
  legal[kNumRedActions - 1] = known.service != 0;
}

void RedMemory::require_possible() const {
  bool good = steps_ >= 0 && discovered_ < 1U << kSubnets && last_action_ <= RedAction::impact &&
              last_flag_ <= Flag::no;
  for (const Host& at : hosts_) {
    good = good && at.last >= -1 && at.last <= steps_ && at.taken <= 1 && at.escalated <= 1;
  }
  if (!good) { throw DataError("env state: a value that no attacker of cage2 can have"); }
}

}  // namespace penstock::cage2
