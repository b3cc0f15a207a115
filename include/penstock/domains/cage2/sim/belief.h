#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/domains/cage2/sim/simulator.h"

/// What a defender can infer of red, which it does not see.
namespace penstock::cage2 {

/// Probabilities, given all that Blue did and saw.
struct RedBelief {
  std::array<float, kNumHosts> session{};     // red has one on the host
  std::array<float, kNumHosts> privileged{};  // red has a privileged one
  std::array<float, kNumHosts> scanned{};     // red knows ports of the host
  std::array<float, kNumHosts> next{};  // red's next move is a scan, an exploit, an escalation or
                                        // an impact of the host
  std::array<float, 3> kind{};          // of attacker, by RedKind
  float service_down = 0;               // the OT service
};

/// Bayes' rule on the exact rules of the game. A hypothesis is a state of the network and of red's
/// agent; each step replaces it by all that could follow it and look as the step did. Hypotheses
/// that are equal are one, so that the belief is exact while `size` are enough. Beyond that some
/// are drawn: likely ones stay as they are, and each keeps its weight in the mean (Fearnhead and
/// Clifford, 2003). When none of those that were drawn can explain a step, the episode is gone
/// through again with more of them.
///
///     BeliefFilter filter(config, 64);
///     filter.note(action, trace.blue_flag, simulator.obs());
///     filter.belief().privileged[host::kOpServer0];
///
/// A function of `game` without its `red`, of the size, and of Blue's own actions and observations:
/// it draws by a sequence of its own and knows no seed. The prior of the attacker is `game.mix`,
/// also where the game is played against one of them. Copies are independent. note() allocates only
/// where it needs more room than any step before.
class BeliefFilter {
 public:
  /// Throws ConfigError when `mix` is not three weights, or gives none to `red`.
  BeliefFilter(const Simulator::Config& game, std::size_t size);

  /// Begins an episode.
  void reset();
  /// A step: the action (of the 145), how it went, and what Blue saw then.
  void note(std::int64_t action, Flag flag, ObsBits obs);

  [[nodiscard]] const RedBelief& belief() const { return belief_; }
  /// How many hypotheses there are, and whether none had to be left out in this episode.
  [[nodiscard]] std::size_t num_hypotheses() const { return now_.size(); }
  [[nodiscard]] bool exact() const { return exact_; }
  /// How often the episode had to be gone through again.
  [[nodiscard]] int num_revivals() const { return num_revivals_; }
  /// Nothing explains what was seen: this is another game. Until the next reset the belief follows
  /// Blue's actions alone.
  [[nodiscard]] bool lost() const { return lost_; }

  /// The belief, host by host, then what concerns all.
  /// [kSize], from 0 to 1.
  void write(std::span<float> row) const;
  static constexpr std::size_t kFeaturesOfHost = 4;
  static constexpr std::size_t kSize = kNumHosts * kFeaturesOfHost + 4;

  /// What was done and seen; loading goes through it again.
  template <class Archive>
  void state(Archive& archive) {
    archive(history_);
    if constexpr (Archive::kLoads) { go_through_again(); }
  }

 private:
  struct Seen {
    std::int64_t action = 0;
    ObsBits obs = 0;
    Flag flag = Flag::unknown;

    template <class Archive>
    void state(Archive& archive) {
      archive(action, obs, flag);
    }
  };
  struct Hypothesis {
    World world;
    Red red;
    double weight = 0;
    std::uint64_t print = 0;  // equal for equal ones
  };
  struct Branch;

  void begin();
  void go_through_again();
  /// False when no hypothesis explains the step, which are then as they were.
  bool advance(const Seen& seen, std::size_t size);
  void branch(const Hypothesis& from, const Seen& seen);
  void branch_exploit(const Branch& branch, std::uint8_t target, double chance);
  void branch_escalate(const Branch& branch, std::uint8_t target, double chance);
  void take(const Branch& branch, const RedMove& move, double chance);
  Flag take(const Branch& branch, const RedMove& move, std::uint8_t green, double chance);
  void merge_last();
  void grow_table();
  [[nodiscard]] double least_kept(std::size_t size) const;
  void draw_down(std::size_t size);
  void normalise();
  void revive();
  void sum_up();

  Hypothesis first_;  // of an episode, of no kind yet
  std::array<double, 3> prior_{};
  bool green_;
  std::size_t size_;
  std::vector<Hypothesis> now_;
  std::vector<Hypothesis> next_;
  std::vector<std::uint32_t> table_;  // places in next_ + 1 by print; 0: none
  std::vector<Seen> history_;
  RedBelief belief_;
  bool exact_ = true;
  bool lost_ = false;
  int num_revivals_ = 0;
};

}  // namespace penstock::cage2
