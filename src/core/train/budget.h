#pragma once
#include "penstock/core/train/config.h"
#include "penstock/core/train/trainer.h"

namespace penstock::detail {

/// What a run may spend: steps, episodes, seconds, whichever is used up first.
class Budget {
 public:
  explicit Budget(const RunConfig& config) : config_(config) {}

  [[nodiscard]] bool used_up(const Spent& spent) const;
  /// In [0, 1], by steps and episodes: what schedules go by. The clock has no say, or results would
  /// depend on the machine.
  [[nodiscard]] double share(const Spent& spent) const;
  /// In [0, 1], by the clock too: what people are shown.
  [[nodiscard]] double shown(const Spent& spent) const;
  /// Until the end, at the pace since `start`, a moment of the same sitting; NaN where nothing has
  /// happened since.
  [[nodiscard]] double seconds_left(const Spent& start, const Spent& now) const;

 private:
  const RunConfig& config_;
};

}  // namespace penstock::detail
