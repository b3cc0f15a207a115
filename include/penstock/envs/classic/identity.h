#pragma once
#include <cstdint>

#include "penstock/core/base/random.h"
#include "penstock/core/env/env.h"
#include "penstock/envs/classic/possible_state.h"

namespace penstock {

/// Say what you see: the row is a one-hot class, drawn anew every step, and the reward is 1 when
/// the action names it. Episodes are cut off after max_steps, which is the best return.
///
///     IdentityEnv env({.num_classes = 4, .max_steps = 16});  // best return 16, by chance 4
///
/// Observations do not depend on actions. Success stays unknown.
class IdentityEnv {
 public:
  /// The keys of `identity`.
  struct Config {
    std::int64_t num_classes = 4;  // numbers of a row
    std::int64_t max_steps = 16;   // BatchedEnv truncates

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("num_classes", num_classes, "classes to tell apart, also actions", Range{1, 1e6});
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit IdentityEnv(const Config& config) : config_(config) {}

  /// One part, "obs" {num_classes}.
  [[nodiscard]] EnvSpec spec() const {
    return {Layout(config_.num_classes), Discrete{config_.num_classes}, config_.max_steps};
  }
  /// The seed decides all classes of the episode.
  void reset(std::uint64_t seed, Row row);
  /// The reward is for the class of the row before; `row` gets the next one.
  Outcome step(std::int64_t action, Row row);

  /// Loading throws DataError for a class that is not one of this config's.
  template <class Archive>
  void state(Archive& archive) {
    archive(random_, shown_);
    if constexpr (Archive::kLoads) {
      detail::require_possible(shown_ >= 0 && shown_ < config_.num_classes);
    }
  }

 private:
  void show_another(Row row);

  Config config_;
  Random random_;
  std::int64_t shown_ = 0;  // the class in the row last written
};

}  // namespace penstock
