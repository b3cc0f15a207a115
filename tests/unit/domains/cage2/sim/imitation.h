#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "penstock/domains/cage2/sim/network.h"

namespace penstock::cage2::test {

/// A deterministic Blue agent, known by its recordings only: does what it did in the same
/// situation, or else in the most similar one. A situation is the observation (of wrapper v2),
/// which hosts were scanned and which last, and the decoys tried since the last Restore: with these
/// the recorded agent never did two different things.
class Imitation {
 public:
  explicit Imitation(const std::vector<std::string>& recordings);

  void reset();
  std::int64_t act(ObsBits obs);

  [[nodiscard]] std::size_t num_situations() const { return known_.size(); }
  /// Situations in which the recorded agent did several things.
  [[nodiscard]] std::size_t num_contradictions() const { return contradictions_; }
  /// The share of actions, so far, that were recorded in exactly their situation.
  [[nodiscard]] double share_known() const {
    return static_cast<double>(found_) / static_cast<double>(asked_);
  }

 private:
  struct Situation {
    ObsBits obs = 0;
    HostSet scanned = 0;
    std::uint8_t last_scanned = kNone;
    std::array<std::uint8_t, kNumHosts> decoys{};  // one bit per kind
    auto operator<=>(const Situation&) const = default;
  };
  static int distance(const Situation& a, const Situation& b);
  static void see(Situation& now, ObsBits obs);
  static void did(Situation& now, std::int64_t action);
  void learn(const std::string& recording);
  void remember(const Situation& situation, std::int64_t action);
  [[nodiscard]] std::int64_t recall();

  std::vector<std::int64_t> opening_;  // the first actions, always the same
  std::map<Situation, std::int64_t> known_;
  std::size_t contradictions_ = 0;
  Situation now_;
  std::size_t step_ = 0;
  std::int64_t asked_ = 0;
  std::int64_t found_ = 0;
};

}  // namespace penstock::cage2::test
