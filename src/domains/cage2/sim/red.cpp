#include "penstock/domains/cage2/sim/red.h"

#include <algorithm>
#include <array>

#include "penstock/core/base/errors.h"

namespace penstock::cage2 {
namespace {

constexpr std::size_t kOperational = number_of(Subnet::operational);

constexpr unsigned subnet_bit(Subnet subnet) { return 1U << number_of(subnet); }

template <class Set>
constexpr Set only(std::uint8_t host) {
  return Set{1} << host;
}

/// Stand for the foothold, for the server that it leads to, and for what the network names.
constexpr std::uint8_t kFoothold = 100;
constexpr std::uint8_t kNextServer = 101;
constexpr std::uint8_t kRelay = 102;
constexpr std::uint8_t kGoal = 103;

struct Stage {
  RedAction action;
  std::uint8_t target;  // a subnet, or one of the four above
  std::uint8_t back;    // the stage to go on with when this one failed
};

constexpr std::uint8_t kFootholdStage = 1;
constexpr std::uint8_t kServerStage = 12;
constexpr std::array<Stage, 15> kStages = {{
    {RedAction::discover_systems, number_of(Subnet::user), 0},
    {RedAction::discover_services, kFoothold, 1},
    {RedAction::exploit, kFoothold, 2},
    {RedAction::escalate, kFoothold, 2},
    {RedAction::discover_services, kNextServer, 2},
    {RedAction::exploit, kNextServer, 2},
    {RedAction::escalate, kNextServer, 5},
    {RedAction::discover_systems, number_of(Subnet::enterprise), 5},
    {RedAction::discover_services, kRelay, 5},
    {RedAction::exploit, kRelay, 5},
    {RedAction::escalate, kRelay, 9},
    {RedAction::discover_services, kGoal, 9},
    {RedAction::exploit, kGoal, 9},
    {RedAction::escalate, kGoal, 12},
    {RedAction::impact, kGoal, 13},
}};

void require(bool possible) {
  if (!possible) { throw DataError("env state: a red agent that no episode of cage2 can have"); }
}

bool host_or_none(std::uint8_t host, const Network& network) {
  return host < network.num_hosts || host == kNone;
}

}  // namespace

// ---- Bline

template <class Set>
BasicIntent<Set> BasicBline<Set>::intend(Flag last, bool saw, const Network& network) {
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
  switch (stage.target) {
    case kFoothold:
      if (foothold_ == kNone) { return {stage.action, static_cast<Set>(network.footholds)}; }
      return {stage.action, only<Set>(foothold_)};
    case kNextServer: {
      const Network::Set led = network.leads_to[foothold_];
      return {stage.action, static_cast<Set>(led & (~led + 1))};  // the first of them
    }
    case kRelay:
      return {stage.action, only<Set>(network.relay)};
    case kGoal:
      return {stage.action, only<Set>(network.goal)};
    default:
      return {stage.action, only<Set>(stage.target)};
  }
}

template <class Set>
void BasicBline<Set>::commit(std::uint8_t target) {
  if (stage_ == kFootholdStage) { foothold_ = target; }
}

template <class Set>
bool BasicBline<Set>::possible(const Network& network) const {
  const bool drawn = foothold_ < network.num_hosts && has(network.footholds, foothold_);
  return stage_ < kStages.size() && reached_server_ <= 1 &&
         (drawn || (foothold_ == kNone && stage_ < kFootholdStage));
}

// ---- Meander

template <class Set>
BasicIntent<Set> BasicMeander<Set>::intend(Flag last, const BasicKnowledge<Set>& known,
                                           const Network& network) {
  learn(last, network);
  return next(known, network);
}

template <class Set>
void BasicMeander<Set>::learn(Flag last, const Network& network) {
  if (exploiting_ != kNone) {
    if (last == Flag::yes) {
      taken_ |= only<Set>(exploiting_);
    } else {
      exploited_ &= ~only<Set>(exploiting_);
      // It takes a failure for the loss of a way, and starts again on that way.
      const Set lost = escalated_ & network.subnet_hosts[kOperational];
      forget(lost != 0 ? lost : escalated_ & network.gates[kOperational]);
    }
    exploiting_ = kNone;
  }
  if (escalating_ != kNone) {
    if (last == Flag::no) {
      escalated_ &= ~only<Set>(escalating_);
      if (has(taken_, escalating_)) { exploited_ &= ~only<Set>(escalating_); }
    }
    escalating_ = kNone;
  }
}

template <class Set>
void BasicMeander<Set>::forget(Set hosts) {
  escalated_ &= ~hosts;
  exploited_ &= ~hosts;
}

template <class Set>
BasicIntent<Set> BasicMeander<Set>::next(const BasicKnowledge<Set>& known,
                                         const Network& network) const {
  if (has(escalated_, network.goal)) { return {RedAction::impact, only<Set>(network.goal)}; }
  const unsigned subnets = known.subnets & ~unsigned{scanned_subnets_};
  for (const Subnet subnet : {Subnet::enterprise, Subnet::operational, Subnet::user}) {
    if ((subnets & subnet_bit(subnet)) != 0) {
      return {RedAction::discover_systems, static_cast<Set>(subnet_bit(subnet))};
    }
  }
  const Set unseen = known.addresses & ~scanned_;
  if (unseen != 0) { return {RedAction::discover_services, unseen}; }
  const Set lost = taken_ & ~exploited_;
  const Set open = known.names & ~escalated_ & ~lost;
  if (open != 0) { return {RedAction::escalate, open}; }
  const Set left = known.addresses & ~exploited_;
  if (left != 0) { return {RedAction::exploit, left}; }
  return {};
}

template <class Set>
void BasicMeander<Set>::commit(RedAction action, std::uint8_t target) {
  switch (action) {
    case RedAction::impact:
      escalating_ = target;
      break;
    case RedAction::discover_systems:
      scanned_subnets_ |= 1U << target;
      break;
    case RedAction::discover_services:
      scanned_ |= only<Set>(target);
      break;
    case RedAction::escalate:
      escalated_ |= only<Set>(target);
      escalating_ = target;
      break;
    case RedAction::exploit:
      exploited_ |= only<Set>(target);
      exploiting_ = target;
      break;
    default:
      break;
  }
}

template <class Set>
bool BasicMeander<Set>::possible(const Network& network) const {
  const Set sets = scanned_ | exploited_ | escalated_ | taken_;
  return (sets & ~network.all()) == 0 && host_or_none(exploiting_, network) &&
         host_or_none(escalating_, network);
}

// ---- Red

template <class Set>
BasicIntent<Set> BasicRed<Set>::intend(const BasicKnowledge<Set>& known, const Network& network) {
  switch (kind_) {
    case RedKind::bline:
      return bline_.intend(last_, saw_ != 0, network);
    case RedKind::meander:
      return meander_.intend(last_, known, network);
    default:
      return {};
  }
}

template <class Set>
void BasicRed<Set>::commit(RedAction action, std::uint8_t target) {
  if (kind_ == RedKind::bline) { bline_.commit(target); }
  if (kind_ == RedKind::meander) { meander_.commit(action, target); }
}

template <class Set>
void BasicRed<Set>::learn(const RedReport& report) {
  last_ = report.flag;
  saw_ = report.events.count != 0 ? 1 : 0;
}

template <class Set>
void BasicRed<Set>::require_possible(const Network& network) const {
  require(kind_ <= RedKind::sleep && last_ <= Flag::no && saw_ <= 1 && bline_.possible(network) &&
          meander_.possible(network));
}

template class BasicBline<ChallengeSize::Set>;
template class BasicBline<WideSize::Set>;
template class BasicMeander<ChallengeSize::Set>;
template class BasicMeander<WideSize::Set>;
template class BasicRed<ChallengeSize::Set>;
template class BasicRed<WideSize::Set>;

}  // namespace penstock::cage2
