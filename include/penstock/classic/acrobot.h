#pragma once
#include <array>
#include <cstdint>

#include "penstock/classic/possible_state.h"
#include "penstock/env/env.h"

namespace penstock {

/// Acrobot-v1: swing a two-link arm above the bar by a torque of -1 (0), none (1) or +1 (2) on the
/// joint between the links. Reward -1 per step, 0 on the last; terminated, with success, when the
/// tip is up. State: theta1, theta2 and their velocities; the observation has cosine and sine of
/// each angle instead. Runge-Kutta, "book" dynamics and the initial distribution are Gymnasium's.
class Acrobot {
 public:
  struct Config {
    std::int64_t max_steps = 500;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit Acrobot(const Config& config) : max_steps_(config.max_steps) {}

  [[nodiscard]] EnvSpec spec() const { return {Layout(6), Discrete{3}, max_steps_}; }
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::int64_t action, Row row);

  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(in_bounds()); }
  }

 private:
  [[nodiscard]] bool in_bounds() const;
  void observe(Row row) const;

  std::array<double, 4> state_{};
  std::int64_t max_steps_;
};

}  // namespace penstock
