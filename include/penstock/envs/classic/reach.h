#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// Move a point in the square [-1, 1]^2 to a target, at most 0.2 a step along each axis. The reward
/// is minus the distance left; terminated, with success, within 0.1 of the target.
///
/// Success is `no` while the target is not reached, so an episode that is cut off has failed.
class ReachEnv {
 public:
  /// The key of `reach`.
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
  /// Both points uniform in the square; they may lie within reach already.
  void reset(std::uint64_t seed, Row row);
  /// Two numbers, clamped to [-1, 1]: shares of the longest stride.
  Outcome step(std::span<const float> action, Row row);

  /// Loading throws DataError for what is not finite.
  template <class Archive>
  void state(Archive& archive) {
    archive(position_, target_);
    if constexpr (Archive::kLoads) {
      detail::require_possible(detail::all_finite(position_) && detail::all_finite(target_));
    }
  }

 private:
  void observe(Row row) const;

  std::array<double, 2> position_{};  // x, y
  std::array<double, 2> target_{};
  std::int64_t max_steps_;  // BatchedEnv truncates
};

}  // namespace penstock
