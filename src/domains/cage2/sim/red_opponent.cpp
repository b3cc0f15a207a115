#include "penstock/domains/cage2/sim/red_opponent.h"

#include <algorithm>

#include "penstock/core/base/errors.h"
#include "penstock/domains/cage2/sim/red_env.h"

namespace penstock::cage2 {

std::vector<std::string> red_scripts() { return {"bline", "meander", "sleep"}; }

RedOpponent::RedOpponent(const Opponents* opponents) {
  if (opponents == nullptr) { return; }
  const std::vector<std::string> scripts = red_scripts();
  for (const OpponentEntry& entry : *opponents) {
    Entry& red = reds_.emplace_back();
    if (!entry.make) {
      const auto found = std::ranges::find(scripts, entry.name);
      red.script = static_cast<RedKind>(found - scripts.begin());
      continue;
    }
    require_spec("env.red", entry, red_spec(1), "cage2_red");
    red.policy = entry.make();
  }
}

void RedOpponent::reset(std::uint64_t seed, Simulator& simulator) {
  if (reds_.empty()) { return; }
  seed_ = seed;
  drawn_ = draw_opponent(seed, reds_.size());
  memory_.reset();
  simulator.set_red(reds_[drawn_].script);
}

Simulator::Trace RedOpponent::advance(Simulator& simulator, std::int64_t action) {
  if (reds_.empty() || !reds_[drawn_].policy) { return simulator.advance(action); }
  // Red chooses by what it knew before Blue's move, which it does not see.
  memory_.write(simulator.world(), row_);
  legal_.fill(true);
  RedMemory::write_mask(simulator.world(), legal_);
  const std::int64_t choice = reds_[drawn_].policy->choose(row_, legal_, seed_, memory_.steps());
  const Simulator::Trace trace = simulator.advance_by(action, red_intent(choice));
  memory_.note(trace.red, trace.red_flag);
  return trace;
}

void RedOpponent::require_possible() const {
  if (drawn_ >= reds_.size()) { throw DataError("env state: an attacker that env.red has not"); }
}

}  // namespace penstock::cage2
