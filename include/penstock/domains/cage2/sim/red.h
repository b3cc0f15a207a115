#pragma once
#include <cstdint>

#include "penstock/domains/cage2/sim/network.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2 {

/// The attackers of the challenge.
enum class RedKind : std::uint8_t { bline, meander, sleep };

/// What a red agent means to do; the target is drawn evenly from the set.
template <class Set>
struct BasicIntent {
  RedAction action = RedAction::sleep;
  Set targets = 0;  // bit s for Subnet s with discover_systems
};
using Intent = BasicIntent<HostSet>;

/// Goes straight for the OT service: a list of fifteen stages, one step back where one fails. The
/// first foothold is the only thing it draws.
template <class Set>
class BasicBline {
 public:
  /// `saw`: whether the last action showed it anything.
  BasicIntent<Set> intend(Flag last, bool saw, const Network& network);
  /// The target that was drawn from what it intended.
  void commit(std::uint8_t target);
  /// 0 to 14, the one intended last.
  [[nodiscard]] std::uint8_t stage() const { return stage_; }
  /// Whether a loaded one can occur in an episode.
  [[nodiscard]] bool possible(const Network& network) const;

  template <class Archive>
  void state(Archive& archive) {
    archive(stage_, foothold_, reached_server_);
  }

 private:
  std::uint8_t stage_ = 0;
  std::uint8_t foothold_ = kNone;    // the user host it drew
  std::uint8_t reached_server_ = 0;  // it has attacked the goal
};

/// Takes whatever it sees, subnet by subnet.
template <class Set>
class BasicMeander {
 public:
  BasicIntent<Set> intend(Flag last, const BasicKnowledge<Set>& known, const Network& network);
  void commit(RedAction action, std::uint8_t target);
  [[nodiscard]] bool possible(const Network& network) const;

  /// Small whole numbers only; copies are independent.
  template <class Archive>
  void state(Archive& archive) {
    archive(scanned_subnets_, scanned_, exploited_, escalated_, taken_, exploiting_, escalating_);
  }

 private:
  void learn(Flag last, const Network& network);
  [[nodiscard]] BasicIntent<Set> next(const BasicKnowledge<Set>& known,
                                      const Network& network) const;
  void forget(Set hosts);

  std::uint8_t scanned_subnets_ = 0;  // bit s for Subnet s
  Set scanned_ = 0;                   // whose ports it has asked for
  Set exploited_ = 0;
  Set escalated_ = 0;
  Set taken_ = 0;                    // exploited with success at some time
  std::uint8_t exploiting_ = kNone;  // in the step before
  std::uint8_t escalating_ = kNone;  // likewise, or whose service it attacked
};

/// The agent of an episode. It sees its own last result, never Blue.
///
///     const Intent intent = red.intend(world.knowledge(), world.network());
///     red.commit(move.action, move.target);  // a move drawn from the intent
///     red.learn(world.red(move));
template <class Set>
class BasicRed {
 public:
  BasicRed() = default;
  explicit BasicRed(RedKind kind) : kind_(kind) {}

  [[nodiscard]] RedKind kind() const { return kind_; }
  /// The stage of bline, kNone for others.
  [[nodiscard]] std::uint8_t stage() const {
    return kind_ == RedKind::bline ? bline_.stage() : kNone;
  }

  /// Once per step: what it means to do, what was drawn, how it went.
  BasicIntent<Set> intend(const BasicKnowledge<Set>& known, const Network& network);
  void commit(RedAction action, std::uint8_t target);
  void learn(const RedReport& report);

  template <class Archive>
  void state(Archive& archive) {
    archive(kind_, last_, saw_, bline_, meander_);
  }
  /// After loading: throws DataError for what no episode can have.
  void require_possible(const Network& network) const;

 private:
  RedKind kind_ = RedKind::sleep;
  Flag last_ = Flag::unknown;  // how its last action went
  std::uint8_t saw_ = 1;       // whether that showed it anything
  BasicBline<Set> bline_;
  BasicMeander<Set> meander_;
};

/// Scenario 2's.
using Bline = BasicBline<HostSet>;
using Meander = BasicMeander<HostSet>;
using Red = BasicRed<HostSet>;
extern template class BasicBline<ChallengeSize::Set>;
extern template class BasicBline<WideSize::Set>;
extern template class BasicMeander<ChallengeSize::Set>;
extern template class BasicMeander<WideSize::Set>;
extern template class BasicRed<ChallengeSize::Set>;
extern template class BasicRed<WideSize::Set>;

}  // namespace penstock::cage2
