#include "penstock/domains/booking/slots/slots_env.h"

#include "penstock/core/env/batched_env.h"

namespace penstock::booking {

SlotsEnv::SlotsEnv(const Config& config)
    : market_(std::make_unique<const SlotMarket>(config)),
      day_(std::make_unique<SlotDay>()),
      rival_(config.versus == "none" ? nullptr : std::make_unique<SlotDay>()) {}

EnvSpec SlotsEnv::spec() const {
  EnvSpec spec;
  spec.obs = Layout({{"tokens", {kMaxSlots, kSlotFeatures}}});
  spec.action =
      MultiDiscrete{.n = std::vector<std::int64_t>(kMaxSlots, kSlotLevels), .masked = true};
  spec.max_episode_steps = market_->most_calls();
  spec.stats = {"profit", "sold", "fee", "cost"};
  return spec;
}

void SlotsEnv::reset(std::uint64_t seed, Row row) {
  day_->begin(*market_, seed);
  if (rival_) { rival_->begin(*market_, seed); }
  write_slot_tokens(*day_, row.obs, row.legal);
}

Outcome SlotsEnv::step(std::span<const std::int64_t> levels, Row row) {
  constexpr float kMoney = 100;
  const SlotOffer offer = offer_of_levels(*day_, levels);
  Cents gained = day_->sell(offer.fees, offer.withheld);
  if (rival_) { gained -= step_rival(); }
  write_slot_tokens(*day_, row.obs, row.legal);
  return {.reward = static_cast<float>(gained) / kMoney, .terminated = day_->over()};
}

/// The seller that is compared with serves the same callers, who are of the same mind.
Cents SlotsEnv::step_rival() {
  SlotOffer offer;
  if (market_->config().versus != "null") {
    const bool blend = market_->config().versus == "blend";
    offer = priced_offer(*rival_, rival_->call().belief,
                         blend ? blended_costs(*rival_) : insertion_costs(*rival_));
  }
  return rival_->sell(offer.fees, offer.withheld);
}

void SlotsEnv::episode_stats(std::span<double> stats) const {
  constexpr double kMoney = 100;
  const SlotTally& tally = day_->tally();
  const double sold = tally.sold > 0 ? tally.sold : 1;
  stats[0] = tally.profit / kMoney;
  stats[1] = static_cast<double>(tally.sold) / tally.calls;
  stats[2] = tally.fees / kMoney / sold;
  stats[3] = day_->cost() / kMoney / sold;
}

std::vector<EnvEntry> slot_envs() {
  return {env_entry<SlotsEnv>(
      "slots", "slots sold for money: which fee to ask of each caller for each slot")};
}

}  // namespace penstock::booking
