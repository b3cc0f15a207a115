#pragma once
#include <cstdint>

#include "penstock/domains/cage2/sim/blue_view.h"

namespace penstock::cage2 {

/// The game of `cage2` in Scenario 2, with what BlueKeys add to it. Without any of them it is
/// Simulator, step by step.
class GameEnv {
 public:
  struct Config : GameConfig, BlueKeys {
    template <class Visitor>
    void fields(Visitor& visit) {
      GameConfig::fields(visit);
      visit_view(visit);
      visit_order(visit);
    }
  };

  /// Throws ConfigError.
  explicit GameEnv(const Config& config);

  /// Parts "hosts" {13, 4}, "memory" and "belief", as configured.
  [[nodiscard]] EnvSpec spec() const;
  void reset(std::uint64_t seed, Row row);
  /// A macro action where the config says so. Masked actions are played like others.
  Outcome step(std::int64_t choice, Row row);

  [[nodiscard]] const Simulator& simulator() const { return simulator_; }
  [[nodiscard]] const BlueView& view() const { return view_; }

  template <class Archive>
  void state(Archive& archive) {
    archive(simulator_, view_);
  }

 private:
  Simulator simulator_;
  BlueView view_;
};

}  // namespace penstock::cage2
