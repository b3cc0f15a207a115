#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/classic/possible_state.h"
#include "penstock/env/env.h"

namespace penstock {

/// Move a point in the square [-1, 1]^2 to a target, at most 0.2 a step along each axis. The reward
/// is minus the distance left; terminated, with success, within 0.1 of the target.
class ReachEnv {
 public:
  struct Config {
    std::int64_t max_steps = 32;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit ReachEnv(const Config& config) : max_steps_(config.max_steps) {}

  /// Parts: "position" {2}, "target" {2}.
  [[nodiscard]] EnvSpec spec() const;
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::span<const float> action, Row row);

  template <class Archive>
  void state(Archive& archive) {
    archive(position_, target_);
    if constexpr (Archive::kLoads) {
      detail::require_possible(detail::all_finite(position_) && detail::all_finite(target_));
    }
  }

 private:
  void observe(Row row) const;

  std::array<double, 2> position_{};
  std::array<double, 2> target_{};
  std::int64_t max_steps_;
};

}  // namespace penstock
