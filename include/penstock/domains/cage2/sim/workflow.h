#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "penstock/domains/cage2/sim/mask.h"
#include "penstock/domains/cage2/sim/simulator.h"

/// Workflows: in which order a defender should repair what was lost. docs/cage2/README.md tells
/// more.
namespace penstock::cage2 {

/// The five types of units.
/// One or more of the 13 hosts each; the numbers are those of Order.
enum class UnitType : std::uint8_t { defender, enterprise, op_server, op_host, user };
constexpr std::size_t kNumTypes = 5;
constexpr std::size_t kOrderSize = kNumTypes * kNumTypes;

/// A set of types, bit t for type t.
using TypeSet = std::uint8_t;

/// The types (as numbers) by priority: order[0] is to be repaired first.
using Order = std::array<int, kNumTypes>;

/// "op_server"; static memory.
std::string_view type_name(UnitType type);
/// `host` below kNumHosts.
UnitType type_of(std::uint8_t host);
/// The types that have a host in the set.
TypeSet types_of(HostSet hosts);

/// Whether each type comes once.
bool is_order(const Order& order);
/// "defender,enterprise,op_server,op_host,user". Throws ConfigError unless it names each type once.
Order order_of(const std::string& text);
/// The way back.
std::string order_name(const Order& order);
/// One bit per position and type: position x 5 + type.
void write_order(const Order& order, std::span<float> row);

/// The host that a Remove or a Restore repairs; kNone for every other action.
std::uint8_t fixed_host(std::int64_t action);

/// Rule A: every type of higher priority was repaired before in the episode.
bool complies_a(const Order& order, UnitType type, TypeSet fixed);
/// Rule B: no type of higher priority is lost, and this one is, or none is.
bool complies_b(const Order& order, UnitType type, TypeSet lost);

/// Hosts where red has a session, User0 aside, where it always has one.
constexpr HostSet lost_hosts(HostSet with_sessions) { return with_sessions & ~bit(host::kUser0); }

/// Those of the hosts that are of the most urgent type among them.
HostSet most_urgent(const Order& order, HostSet hosts);

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

/// The game of `cage2` in which repairs should follow an order. The observation holds the order
/// after the 52 bits. Beside the game's reward an episode of compliance c earns alpha * c - beta *
/// (1 - c); each step is paid what it changes about that, so that the rewards of an episode add up
/// to the game's return and the alignment. An episode ends for good after max_steps.
/// With a multiplier m an episode earns m * (c - constraint) instead: the Lagrangian of the largest
/// return of which c is at least the constraint. Within an episode m is that of its first step.
/// Success stays unknown.
class WorkflowEnv {
 public:
  /// The keys of the game, and these.
  struct Config : Simulator::Config {
    std::string order = "random";
    std::string compliance_rule = "B";
    double alpha = 10;  // in units of the game's return
    double beta = 10;
    double constraint = 0;  // compliance wanted; 0: no constraint
    double constraint_rate = 5;
    bool show_order = true;
    bool memory = false;
    bool macro = false;
    std::string mask = "none";
    /// Not a key: the multiplier that envs of a constraint share. None: alpha and beta.
    std::shared_ptr<const double> multiplier = {};

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
      visit("constraint_rate", constraint_rate,
            "what the multiplier grows by after a rollout for each unit that compliance lacks",
            Range{0, 1e6});
      visit("show_order", show_order, "whether the order is part of the observation");
      visit("memory", memory, "whether the memory of cage2_defender is part of the observation");
      visit("macro", macro, "the 45 macro actions of cage2_defender instead of 145 actions");
      visit("mask", mask,
            "actions that are masked. legal: decoys that would fail; order: also fixes but those "
            "of hosts that look lost, of the most urgent such type",
            Choices{"none", "legal", "order"});
    }
  };

  /// Throws ConfigError.
  explicit WorkflowEnv(const Config& config);

  /// Parts "obs" {52}, "order" {5, 5} and "memory", as configured; statistics game_return,
  /// compliance, fixes and lost_compliance.
  [[nodiscard]] EnvSpec spec() const;
  /// The same seed is the same game whatever the order; a random order is drawn apart from it.
  void reset(std::uint64_t seed, Row row);
  /// A fix is judged by the state that it meets. Terminates by itself after max_steps.
  /// `action` is a macro action where the config says so. Masked actions are played like others.
  Outcome step(std::int64_t action, Row row);
  /// [4], as spec() names them.
  void episode_stats(std::span<double> stats) const;

  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const Order& order() const { return order_; }
  /// Empty unless the config needs it.
  [[nodiscard]] const Memory& memory() const { return memory_; }
  [[nodiscard]] const Compliance& compliance() const { return compliance_; }
  /// The same of those fixes alone that met a lost host: a fix of a clean one cannot pad it.
  [[nodiscard]] const Compliance& lost_compliance() const { return lost_compliance_; }
  /// What the episode is worth so far, without and with what its compliance earns.
  [[nodiscard]] double game_return() const { return -cost_tenths_ / 10.0; }
  [[nodiscard]] double worth() const;

  template <class Archive>
  void state(Archive& archive) {
    archive(simulator_, order_, fixed_, compliance_, lost_compliance_, steps_, cost_tenths_, paid_,
            memory_);
    if (multiplier_) { archive(price_); }
    if constexpr (Archive::kLoads) { require_possible(); }
  }

 private:
  void draw_order(std::uint64_t seed);
  void judge(std::int64_t action);
  void write(Row row) const;
  void write_mask(std::span<bool> legal) const;
  [[nodiscard]] std::int64_t action_of(std::int64_t choice) const;
  [[nodiscard]] bool remembers() const {
    return show_memory_ || macro_ || mask_ != ActionMask::none;
  }
  void require_possible() const;

  Simulator simulator_;
  std::int64_t max_steps_;
  double alpha_;
  double beta_;
  double constraint_;
  std::shared_ptr<const double> multiplier_;
  bool random_order_;
  bool rule_a_;
  bool show_order_;
  bool show_memory_;
  bool macro_;
  ActionMask mask_;

  Order order_{0, 1, 2, 3, 4};
  TypeSet fixed_ = 0;  // rule A: types that were repaired
  Compliance compliance_;
  Compliance lost_compliance_;
  std::int64_t steps_ = 0;
  std::int64_t cost_tenths_ = 0;
  double paid_ = 0;   // the rewards so far
  double price_ = 0;  // the multiplier of this episode
  Memory memory_;
};

}  // namespace penstock::cage2
