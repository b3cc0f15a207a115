#pragma once
#include <cstdint>

#include "penstock/base/random.h"
#include "penstock/classic/possible_state.h"
#include "penstock/env/env.h"

namespace penstock {

/// Say what you see: the row is a one-hot class, drawn anew every step, and the reward is 1 when
/// the action names it. Episodes are cut off after max_steps, which is the best return.
class IdentityEnv {
 public:
  struct Config {
    std::int64_t num_classes = 4;
    std::int64_t max_steps = 16;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit("num_classes", num_classes, "classes to tell apart, also actions", Range{1, 1e6});
      visit("max_steps", max_steps, "steps after which an episode is cut off", Range{1, 1e9});
    }
  };

  explicit IdentityEnv(const Config& config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const {
    return {Layout(config_.num_classes), Discrete{config_.num_classes}, config_.max_steps};
  }
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::int64_t action, Row row);

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
  std::int64_t shown_ = 0;
};

}  // namespace penstock
