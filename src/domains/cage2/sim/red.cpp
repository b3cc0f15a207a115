#include "penstock/domains/cage2/sim/red.h"

#include <algorithm>
#include <array>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr HostSet kFootholds =
    bit(host::kUser1) | bit(host::kUser2) | bit(host::kUser3) | bit(host::kUser4);
constexpr HostSet kOperational = kSubnetHosts[static_cast<int>(Subnet::operational)];

constexpr HostSet bit(Subnet subnet) { return 1U << static_cast<unsigned>(subnet); }

/// Stands for the foothold and for the server that it leads to.
constexpr std::uint8_t kFoothold = 100;
constexpr std::uint8_t kNextServer = 101;

struct Stage {
  RedAction action;
  std::uint8_t target;  // a host, a subnet, or one of the two above
  std::uint8_t back;    // the stage to go on with when this one failed
};

constexpr std::uint8_t kFootholdStage = 1;
constexpr std::uint8_t kServerStage = 12;
constexpr std::array<Stage, 15> kStages = {{
    {RedAction::discover_systems, static_cast<std::uint8_t>(Subnet::user), 0},
    {RedAction::discover_services, kFoothold, 1},
    {RedAction::exploit, kFoothold, 2},
    {RedAction::escalate, kFoothold, 2},
    {RedAction::discover_services, kNextServer, 2},
    {RedAction::exploit, kNextServer, 2},
    {RedAction::escalate, kNextServer, 5},
    {RedAction::discover_systems, static_cast<std::uint8_t>(Subnet::enterprise), 5},
    {RedAction::discover_services, host::kEnterprise2, 5},
    {RedAction::exploit, host::kEnterprise2, 5},
    {RedAction::escalate, host::kEnterprise2, 9},
    {RedAction::discover_services, host::kOpServer0, 9},
    {RedAction::exploit, host::kOpServer0, 9},
    {RedAction::escalate, host::kOpServer0, 12},
    {RedAction::impact, host::kOpServer0, 13},
}};

void require(bool possible) {
  if (!possible) { throw DataError("env state: a red agent that no episode of cage2 can have"); }
}

bool host_or_none(std::uint8_t host) { return host < kNumHosts || host == kNone; }

}  // namespace

// ---- Bline

Intent Bline::intend(Flag last, bool saw) {
  stage_ = last == Flag::yes ? std::min<std::uint8_t>(stage_ + 1, kStages.size() - 1)
                             : kStages[stage_].back;
  if (stage_ == kServerStage && reached_server_ == 0) {
    // The scan before showed nothing when the way was closed: back to the foothold.
    if (saw) {
      reached_server_ = 1;
    } else {
      stage_ = kFootholdStage;
    }
  }
  const Stage& stage = kStages[stage_];
  std::uint8_t target = stage.target;
  if (target == kFoothold) {
    if (foothold_ == kNone) { return {stage.action, kFootholds}; }
    target = foothold_;
  } else if (target == kNextServer) {
    target = foothold_ <= host::kUser2 ? host::kEnterprise1 : host::kEnterprise0;
  }
  return {stage.action, cage2::bit(target)};
}

void Bline::commit(std::uint8_t target) {
  if (stage_ == kFootholdStage) { foothold_ = target; }
}

bool Bline::possible() const {
  const bool drawn = foothold_ < kNumHosts && has(kFootholds, foothold_);
  return stage_ < kStages.size() && reached_server_ <= 1 &&
         (drawn || (foothold_ == kNone && stage_ <= kFootholdStage));
}

// ---- Meander

Intent Meander::intend(Flag last, const Knowledge& known) {
  learn(last);
  return next(known);
}

void Meander::learn(Flag last) {
  if (exploiting_ != kNone) {
    if (last == Flag::yes) {
      taken_ |= cage2::bit(exploiting_);
    } else {
      exploited_ &= ~cage2::bit(exploiting_);
      // It takes a failure for the loss of a way, and starts again on that way.
      const HostSet lost = escalated_ & kOperational;
      forget(lost != 0 ? lost : escalated_ & kEnterpriseServers);
    }
    exploiting_ = kNone;
  }
  if (escalating_ != kNone) {
    if (last == Flag::no) {
      escalated_ &= ~cage2::bit(escalating_);
      if (has(taken_, escalating_)) { exploited_ &= ~cage2::bit(escalating_); }
    }
    escalating_ = kNone;
  }
}

void Meander::forget(HostSet hosts) {
  escalated_ &= ~hosts;
  exploited_ &= ~hosts;
}

Intent Meander::next(const Knowledge& known) const {
  if (has(escalated_, host::kOpServer0)) {
    return {RedAction::impact, cage2::bit(host::kOpServer0)};
  }
  const unsigned subnets = known.subnets & ~unsigned{scanned_subnets_};
  for (const Subnet subnet : {Subnet::enterprise, Subnet::operational, Subnet::user}) {
    if ((subnets & bit(subnet)) != 0) { return {RedAction::discover_systems, bit(subnet)}; }
  }
  const HostSet unseen = known.addresses & ~scanned_;
  if (unseen != 0) { return {RedAction::discover_services, unseen}; }
  const HostSet lost = taken_ & ~exploited_;
  const HostSet open = known.names & ~escalated_ & ~lost;
  if (open != 0) { return {RedAction::escalate, open}; }
  const HostSet left = known.addresses & ~exploited_;
  if (left != 0) { return {RedAction::exploit, left}; }
  return {};
}

void Meander::commit(RedAction action, std::uint8_t target) {
  switch (action) {
    case RedAction::impact:
      escalating_ = target;
      break;
    case RedAction::discover_systems:
      scanned_subnets_ |= 1U << target;
      break;
    case RedAction::discover_services:
      scanned_ |= cage2::bit(target);
      break;
    case RedAction::escalate:
      escalated_ |= cage2::bit(target);
      escalating_ = target;
      break;
    case RedAction::exploit:
      exploited_ |= cage2::bit(target);
      exploiting_ = target;
      break;
    default:
      break;
  }
}

bool Meander::possible() const {
  const HostSet sets = scanned_ | exploited_ | escalated_ | taken_;
  return (sets & ~kAllHosts) == 0 && host_or_none(exploiting_) && host_or_none(escalating_);
}

// ---- Red

Intent Red::intend(const Knowledge& known) {
  switch (kind_) {
    case RedKind::bline:
      return bline_.intend(last_, saw_ != 0);
    case RedKind::meander:
      return meander_.intend(last_, known);
    default:
      return {};
  }
}

void Red::commit(RedAction action, std::uint8_t target) {
  if (kind_ == RedKind::bline) { bline_.commit(target); }
  if (kind_ == RedKind::meander) { meander_.commit(action, target); }
}

void Red::learn(const RedReport& report) {
  last_ = report.flag;
  saw_ = report.events.count != 0 ? 1 : 0;
}

void Red::require_possible() const {
  require(kind_ <= RedKind::sleep && last_ <= Flag::no && saw_ <= 1 && bline_.possible() &&
          meander_.possible());
}

}  // namespace penstock::cage2
