#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "penstock/domains/cage2/sim/blue_view.h"
#include "penstock/domains/cage2/sim/simulator.h"

/// Workflows: in which order a defender should repair what was lost. docs/cage2/README.md tells
/// more.
namespace penstock::cage2 {

/// Rule A: every type of higher priority was repaired before in the episode.
bool complies_a(const Order& order, UnitType type, TypeSet fixed);
/// Rule B: no type of higher priority is lost, and this one is, or none is.
bool complies_b(const Order& order, UnitType type, TypeSet lost);

/// Hosts where red has a session, User0 aside, where it always has one.
constexpr HostSet lost_hosts(HostSet with_sessions) { return with_sessions & ~bit(host::kUser0); }

/// The two counters of an episode.
struct Compliance {
  std::int32_t fixes = 0;      // Removes and Restores, of any host
  std::int32_t compliant = 0;  // of these

  void count(bool complies) {
    ++fixes;
    compliant += complies ? 1 : 0;
  }
  [[nodiscard]] bool possible() const { return fixes >= 0 && compliant >= 0 && compliant <= fixes; }
  /// An episode without a fix is neither good nor bad.
  [[nodiscard]] double ratio() const { return fixes == 0 ? 0.5 : 1.0 * compliant / fixes; }

  template <class Archive>
  void state(Archive& archive) {
    archive(fixes, compliant);
  }
};

/// The fixes of an episode, judged by an order.
struct Judgement {
  Compliance all;
  /// Of those fixes alone that met a lost host: a fix of a clean one cannot pad it.
  Compliance lost;
  TypeSet fixed = 0;  // rule A: types that were repaired

  /// An action, by the hosts with sessions of red's that it meets.
  void judge(std::int64_t action, HostSet with_sessions, const Order& order, bool rule_a);
  [[nodiscard]] bool possible() const {
    return fixed < 1U << kNumTypes && all.possible() && lost.possible();
  }

  template <class Archive>
  void state(Archive& archive) {
    archive(fixed, all, lost);
  }
};

/// What a constraint pays for compliance over all fixes and over those of lost hosts.
struct Multipliers {
  double all = 0;
  double lost = 0;

  template <class Archive>
  void state(Archive& archive) {
    archive(all, lost);
  }
};

/// The game of `cage2` in which repairs should follow an order. The observation holds the order
/// after the 52 bits. Beside the game's reward an episode of compliance c earns alpha * c - beta *
/// (1 - c); each step is paid what it changes about that, so that the rewards of an episode add up
/// to the game's return and the alignment. An episode ends for good after max_steps.
/// With a multiplier m an episode earns m * (c - constraint) instead, for each count that the
/// constraint is on: the Lagrangian of the largest return of which c is at least the constraint.
/// Within an episode m is that of its first step.
/// Success stays unknown.
class WorkflowEnv {
 public:
  /// The keys of the game, and these.
  struct Config : Simulator::Config, BlueKeys {
    /// order = random.
    Config() { order = "random"; }
    std::string compliance_rule = "B";
    double alpha = 10;  // in units of the game's return
    double beta = 10;
    double constraint = 0;  // compliance wanted; 0: no constraint
    std::string constraint_on = "all";
    double constraint_rate = 5;
    bool show_order = true;
    /// Not a key: the multipliers that envs of a constraint share. None: alpha and beta.
    std::shared_ptr<const Multipliers> multipliers = {};

    template <class Visitor>
    void fields(Visitor& visit) {
      Simulator::Config::fields(visit);
      visit("order", order,
            "types of hosts by priority, as defender,enterprise,op_server,op_host,user; random: "
            "drawn for each episode");
      visit("compliance_rule", compliance_rule,
            "A: higher types were repaired before; B: no higher type is lost", Choices{"A", "B"});
      visit("alpha", alpha, "reward of an episode that complies", Range{0, 1e6});
      visit("beta", beta, "cost of an episode that does not comply", Range{0, 1e6});
      visit(
          "constraint", constraint,
          "compliance that is wanted, by a Lagrange multiplier in the place of alpha and beta; 0: "
          "alpha and beta as they are",
          Range{0, 1});
      visit("constraint_on", constraint_on,
            "fixes that the constraint counts. all: any host's; lost: those of hosts that red had; "
            "both: a multiplier for each count",
            Choices{"all", "lost", "both"});
      visit("constraint_rate", constraint_rate,
            "what the multiplier grows by after a rollout for each unit that compliance lacks",
            Range{0, 1e6});
      visit("show_order", show_order, "whether the order is part of the observation");
      visit_view(visit);
    }
    [[nodiscard]] bool constrains_all() const { return constraint_on != "lost"; }
    [[nodiscard]] bool constrains_lost() const { return constraint_on != "all"; }
  };

  /// Throws ConfigError.
  explicit WorkflowEnv(const Config& config);

  /// Parts "obs" {52}, "order" {5, 5}, "memory" and "belief", as configured; statistics
  /// game_return, compliance, fixes and lost_compliance.
  [[nodiscard]] EnvSpec spec() const;
  /// The same seed is the same game whatever the order; a random order is drawn apart from it.
  void reset(std::uint64_t seed, Row row);
  /// A fix is judged by the state that it meets. Terminates by itself after max_steps.
  /// `action` is a macro action where the config says so. Masked actions are played like others.
  Outcome step(std::int64_t action, Row row);
  /// [4], as spec() names them.
  void episode_stats(std::span<double> stats) const;

  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const Order& order() const { return view_.order(); }
  [[nodiscard]] const BlueView& view() const { return view_; }
  [[nodiscard]] const Compliance& compliance() const { return judgement_.all; }
  [[nodiscard]] const Compliance& lost_compliance() const { return judgement_.lost; }
  /// What the episode is worth so far, without and with what its compliance earns.
  [[nodiscard]] double game_return() const { return -cost_tenths_ / 10.0; }
  [[nodiscard]] double worth() const;

  template <class Archive>
  void state(Archive& archive) {
    Order order = view_.order();
    archive(simulator_, order, judgement_, steps_, cost_tenths_, paid_, view_);
    if (multipliers_) { archive(price_); }
    if constexpr (Archive::kLoads) {
      view_.set_order(order);
      require_possible();
    }
  }

 private:
  void draw_order(std::uint64_t seed);
  void require_possible() const;

  Simulator simulator_;
  BlueView view_;
  std::int64_t max_steps_;
  double alpha_;
  double beta_;
  double constraint_;
  std::shared_ptr<const Multipliers> multipliers_;
  bool random_order_;
  bool rule_a_;

  Judgement judgement_;
  std::int64_t steps_ = 0;
  std::int64_t cost_tenths_ = 0;
  double paid_ = 0;    // the rewards so far
  Multipliers price_;  // of this episode
};

}  // namespace penstock::cage2
