#pragma once
#include <cmath>

#include "penstock/penstock.h"

/// A ship must come to rest at a quay. The engine pushes astern, not at all, or ahead; the water
/// carries the ship along. Between the two marks stands the simulation; all else is Penstock's.
class Docking {
 public:
  struct Config {
    double current = 0.1;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit("current", current, "the fastest the water flows, m/s", penstock::Range{0, 1});
    }
  };

  explicit Docking(const Config& config) : config_(config) {}

  [[nodiscard]] penstock::EnvSpec spec() const {
    return {penstock::Layout(3), penstock::Discrete{3}, kMaxSteps};
  }

  template <class Archive>
  void state(Archive& archive) {
    archive(distance_, speed_, flow_);
  }

  // simulation begins
  void reset(std::uint64_t seed, penstock::Row row) {
    penstock::Random random(seed);
    distance_ = random.uniform(10.0, 30.0);
    speed_ = random.uniform(0.0, 1.0);
    flow_ = random.uniform(-config_.current, config_.current);
    observe(row);
  }

  penstock::Outcome step(std::int64_t action, penstock::Row row) {
    const double thrust = static_cast<double>(action - 1);  // astern, none, ahead
    const double drag = kDrag * speed_ * std::abs(speed_);
    speed_ += (kThrust * thrust - drag) * kSeconds;
    distance_ -= (speed_ + flow_) * kSeconds;
    observe(row);

    const double fuel = 0.01 * std::abs(thrust);
    const bool lost = distance_ > kLost;
    if (distance_ > 0 && !lost) { return {.reward = static_cast<float>(-0.01 - fuel)}; }
    // At the quay, or out of sight of it: a soft touch earns most, a crash costs.
    const double impact = std::abs(speed_ + flow_);
    const bool soft = !lost && impact < kSoft;
    return {.reward = lost ? -2.0F : static_cast<float>(2.0 - 4.0 * std::fmin(impact, 1.0)),
            .terminated = true,
            .success = soft ? penstock::Success::yes : penstock::Success::no};
  }

 private:
  static constexpr std::int64_t kMaxSteps = 200;
  static constexpr double kSeconds = 1.0;  // one step
  static constexpr double kThrust = 0.1;   // m/s^2
  static constexpr double kDrag = 0.02;    // 1/m
  static constexpr double kLost = 50.0;    // m
  static constexpr double kSoft = 0.3;     // m/s

  void observe(penstock::Row row) const {
    row.obs[0] = static_cast<float>(distance_ / 10);
    row.obs[1] = static_cast<float>(speed_);
    row.obs[2] = static_cast<float>(flow_);
  }

  double distance_ = 0;  // m to the quay
  double speed_ = 0;     // m/s through the water, towards the quay
  double flow_ = 0;      // m/s of the water, towards the quay
  // simulation ends
  Config config_;
};
