#pragma once
#include <array>
#include <cstdint>

#include "penstock/classic/possible_state.h"
#include "penstock/env/env.h"

namespace penstock {

/// MountainCar-v0: rock an underpowered car out of a valley, pushing left (0), not at all (1) or
/// right (2). Reward -1 per step; terminated, with success, at the flag. Observation and state:
/// position, velocity. Formulas, their order and the initial distribution are Gymnasium's.
class MountainCar {
 public:
  struct Config {
    std::int64_t max_steps = 200;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit MountainCar(const Config& config) : max_steps_(config.max_steps) {}

  [[nodiscard]] EnvSpec spec() const { return {Layout(2), Discrete{3}, max_steps_}; }
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::int64_t action, Row row);

  template <class Archive>
  void state(Archive& archive) {
    archive(state_);
    if constexpr (Archive::kLoads) { detail::require_possible(detail::all_finite(state_)); }
  }

 private:
  void observe(Row row) const;

  std::array<double, 2> state_{};
  std::int64_t max_steps_;
};

}  // namespace penstock
