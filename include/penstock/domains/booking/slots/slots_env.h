#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/env/env.h"
#include "penstock/core/env/vec_env.h"
#include "penstock/domains/booking/slots/day.h"
#include "penstock/domains/booking/slots/tokens.h"

namespace penstock::booking {

/// The env `slots`: customers call before the days of service and buy slots for money; the seller
/// sets fees. An action chooses a level (SlotLevel) per slot; a reward is money. See
/// docs/booking/slots.md. Statistics: profit, sold (share of the calls), fee and cost per sale.
class SlotsEnv {
 public:
  using Config = SlotsConfig;
  explicit SlotsEnv(const Config& config);

  [[nodiscard]] EnvSpec spec() const;
  void reset(std::uint64_t seed, Row row);
  Outcome step(std::span<const std::int64_t> levels, Row row);
  void episode_stats(std::span<double> stats) const;

 private:
  Cents step_rival();

  std::unique_ptr<const SlotMarket> market_;
  std::unique_ptr<SlotDay> day_;    // routes point into it: it stays where it is
  std::unique_ptr<SlotDay> rival_;  // of versus; null without
};

/// Lines for a catalog. One: "slots".
std::vector<EnvEntry> slot_envs();

}  // namespace penstock::booking
