#pragma once
#include <cstdint>

#include "penstock/domains/cage2/sim/network.h"
#include "penstock/domains/cage2/sim/world.h"

namespace penstock::cage2 {

/// The attackers of the challenge.
enum class RedKind : std::uint8_t { bline, meander, sleep };

/// What a red agent means to do; the target is drawn evenly from the set.
struct Intent {
  RedAction action = RedAction::sleep;
  HostSet targets = 0;  // bit s for Subnet s with discover_systems
};

/// Goes straight for the OT service: a list of fifteen stages, one step back where one fails. The
/// first foothold is the only thing it draws.
class Bline {
 public:
  /// `saw`: whether the last action showed it anything.
  Intent intend(Flag last, bool saw);
  /// The target that was drawn from what it intended.
  void commit(std::uint8_t target);
  /// 0 to 14, the one intended last.
  [[nodiscard]] std::uint8_t stage() const { return stage_; }
  /// Whether a loaded one can occur in an episode.
  [[nodiscard]] bool possible() const;

  template <class Archive>
  void state(Archive& archive) {
    archive(stage_, foothold_, reached_server_);
  }

 private:
  std::uint8_t stage_ = 0;
  std::uint8_t foothold_ = kNone;    // the user host it drew
  std::uint8_t reached_server_ = 0;  // it has attacked Op_Server0
};

/// Takes whatever it sees, subnet by subnet.
class Meander {
 public:
  Intent intend(Flag last, const Knowledge& known);
  void commit(RedAction action, std::uint8_t target);
  [[nodiscard]] bool possible() const;

  /// Small whole numbers only; copies are independent.
  template <class Archive>
  void state(Archive& archive) {
    archive(scanned_subnets_, scanned_, exploited_, escalated_, taken_, exploiting_, escalating_);
  }

 private:
  void learn(Flag last);
  [[nodiscard]] Intent next(const Knowledge& known) const;
  void forget(HostSet hosts);

  std::uint8_t scanned_subnets_ = 0;  // bit s for Subnet s
  HostSet scanned_ = 0;               // whose ports it has asked for
  HostSet exploited_ = 0;
  HostSet escalated_ = 0;
  HostSet taken_ = 0;                // exploited with success at some time
  std::uint8_t exploiting_ = kNone;  // in the step before
  std::uint8_t escalating_ = kNone;  // likewise, or whose service it attacked
};

/// The agent of an episode. It sees its own last result, never Blue.
///
///     const Intent intent = red.intend(world.knowledge());
///     red.commit(move.action, move.target);  // a move drawn from the intent
///     red.learn(world.red(move));
class Red {
 public:
  Red() = default;
  explicit Red(RedKind kind) : kind_(kind) {}

  [[nodiscard]] RedKind kind() const { return kind_; }
  /// The stage of bline, kNone for others.
  [[nodiscard]] std::uint8_t stage() const {
    return kind_ == RedKind::bline ? bline_.stage() : kNone;
  }

  /// Once per step: what it means to do, what was drawn, how it went.
  Intent intend(const Knowledge& known);
  void commit(RedAction action, std::uint8_t target);
  void learn(const RedReport& report);

  /// Loading throws DataError for what no episode can have.
  template <class Archive>
  void state(Archive& archive) {
    archive(kind_, last_, saw_, bline_, meander_);
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void require_possible() const;

  RedKind kind_ = RedKind::sleep;
  Flag last_ = Flag::unknown;  // how its last action went
  std::uint8_t saw_ = 1;       // whether that showed it anything
  Bline bline_;
  Meander meander_;
};

}  // namespace penstock::cage2
