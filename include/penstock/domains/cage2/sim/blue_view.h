#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "penstock/core/env/env.h"
#include "penstock/domains/cage2/sim/belief.h"
#include "penstock/domains/cage2/sim/mask.h"
#include "penstock/domains/cage2/sim/memory.h"
#include "penstock/domains/cage2/sim/simulator.h"
#include "penstock/domains/cage2/sim/unit_order.h"

namespace penstock::cage2 {

/// What Blue may be given beside the game: keys of every env of its side.
struct BlueKeys {
  std::string order = "op_server,enterprise,op_host,user,defender";
  bool memory = false;
  bool macro = false;
  std::string mask = "none";
  std::int64_t num_hypotheses = 0;

  /// All but `order`, which means more where an env judges by it.
  template <class Visitor>
  void visit_view(Visitor& visit) {
    visit("memory", memory,
          "whether a memory of Blue's actions and observations is part of the observation");
    visit("macro", macro, "45 macro actions instead of the 145 actions");
    visit("mask", mask,
          "actions that are masked. legal: decoys that would fail; order: also fixes but those "
          "of hosts that look lost, of the most urgent such type",
          Choices{"none", "legal", "order"});
    visit("num_hypotheses", num_hypotheses,
          "most hypotheses of a filter whose beliefs about red are a part of the observation; 0: "
          "no filter",
          Range{0, 100000});
  }
  template <class Visitor>
  void visit_order(Visitor& visit) {
    visit("order", order, "types of hosts by priority, for mask = order");
  }
  /// Whether any of it is given.
  [[nodiscard]] bool any() const { return memory || macro || mask != "none" || num_hypotheses > 0; }
};

/// Blue's side of a game: what it sees of it, what it keeps of what it saw, and which actions it
/// has. Made of observations and Blue's own actions; nothing of the true state comes in.
///
///     view.reset();
///     view.write(simulator.obs(), row);
///     const std::int64_t action = view.action_of(choice);
///     view.note(action, simulator.advance(action).blue_flag, simulator.obs());
class BlueView {
 public:
  /// `game` is what the beliefs reckon with. Throws ConfigError.
  BlueView(const BlueKeys& keys, const GameConfig& game, bool show_order = false);

  /// The game's own 52 numbers, then "order" {5, 5}, "memory" and "belief", as configured.
  [[nodiscard]] EnvSpec spec(Layout bits, std::int64_t max_steps) const;

  /// Begins an episode.
  void reset();
  void set_order(const Order& order) { order_ = order; }
  [[nodiscard]] const Order& order() const { return order_; }
  /// The action of the 145 that a choice means.
  [[nodiscard]] std::int64_t action_of(std::int64_t choice) const {
    return macro_ ? macro_action(choice, memory_) : choice;
  }
  /// A step: the action (of the 145), how it went, and what Blue saw then.
  void note(std::int64_t action, Flag flag, ObsBits obs);
  /// What to act on next.
  void write(ObsBits obs, Row row) const;

  [[nodiscard]] const Memory& memory() const { return memory_; }
  /// Null without beliefs.
  [[nodiscard]] const BeliefFilter* filter() const { return filter_.get(); }
  [[nodiscard]] std::size_t num_choices() const { return macro_ ? kNumMacros : kNumActions; }

  /// Without the order.
  template <class Archive>
  void state(Archive& archive) {
    archive(memory_);
    if (filter_) { archive(*filter_); }
  }

 private:
  [[nodiscard]] bool masks() const { return mask_ != ActionMask::none; }

  Order order_;
  bool show_order_;
  bool show_memory_;
  bool macro_;
  ActionMask mask_;
  Memory memory_;
  std::unique_ptr<BeliefFilter> filter_;
};

}  // namespace penstock::cage2
