#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/base/config.h"
#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/slots/choice.h"

namespace penstock::booking {

/// Money is whole cents: sums are exact.
using Cents = std::int64_t;

/// The keys of the env `slots`; see docs/booking/slots.md. Money is in units of a currency, times
/// in the unit that the name or the help tells.
struct SlotsConfig {
  std::string family = "delivery";
  std::string file;  // a path
  std::int64_t customers = 60;
  std::int64_t customers_least = 0;  // 0: as customers
  std::int64_t vehicles = 6;
  std::int64_t vehicles_least = 0;  // 0: as vehicles
  std::int64_t days = 1;
  std::int64_t slots = 6;  // of a day
  double open = 8;         // hours
  double close = 20;
  double service = 0;         // minutes; 0: 1 for rides, 8 for deliveries
  double detour = 20;         // minutes
  std::int64_t max_ride = 0;  // minutes; 0: no limit
  double revenue = 20;
  double taste = 1;
  double beta = 0.25;
  double rigid_hour = 0.8;
  double free_hour = 0.1;
  double later_day = 0.5;
  std::int64_t history = 3;
  double max_fee = 10;
  double fee_step = 0.5;
  double per_km = 0.4;
  double per_hour = 18;
  double per_vehicle = 25;
  double per_ride_minute = 0.1;
  double lost = 0;
  std::int64_t rounds = 50;
  std::int64_t sale_rounds = 0;
  std::string versus = "none";

  /// Each key once, with its help and its limits.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit("family", family,
          "where customers live and what is sold. city: rides; delivery, clustered: deliveries; "
          "csv: deliveries to the places of a list; mix: an episode of city, delivery or (with a "
          "file) csv, else clustered",
          Choices{"city", "delivery", "clustered", "csv", "mix"});
    visit("file", file, "the list of requests that csv reads (docs/booking/csv.md)");
    visit("customers", customers, "calls that are expected in an episode, at most", Range{1, 2000});
    visit("customers_least", customers_least,
          "the fewest that are expected: each episode draws between the two; 0: as env.customers",
          Range{0, 2000});
    visit("vehicles", vehicles, "vehicles of a day, at most", Range{1, 1000});
    visit("vehicles_least", vehicles_least,
          "the fewest: each episode draws between the two; 0: as env.vehicles", Range{0, 1000});
    visit("days", days, "days of service that are sold side by side", Range{1, kMaxSlots});
    visit("slots", slots, "slots of a day; times env.days at most 16", Range{1, kMaxSlots});
    visit("open", open, "hour at which the first slot of a day begins", Range{0, 24});
    visit("close", close, "hour at which the last slot of a day ends", Range{0, 24});
    visit("service", service, "minutes at a stop; 0: 1 for rides, 8 for deliveries", Range{0, 240});
    visit("detour", detour,
          "a ride's drop-off is promised by the end of the slot, the direct time and these minutes",
          Range{0, 1440});
    visit("max_ride", max_ride,
          "most minutes from pickup to drop-off, or the longest direct ride where that is more; 0: "
          "no limit, which is ten times faster",
          Range{0, 1440});
    visit("revenue", revenue,
          "mean margin of a sale before delivery; a call's own is drawn from half to one and a "
          "half of it",
          Range{0, 1e6});
    visit("taste", taste, "utility of the wished hour at no fee; that of buying nothing is 0",
          Range{-20, 20});
    visit("beta", beta, "utility that a unit of money takes", Range{0.001, 1000});
    visit("rigid_hour", rigid_hour,
          "utility that an hour off the wish takes in a direction that the customer's type does "
          "not like",
          Range{0, 100});
    visit("free_hour", free_hour, "the same in a direction that it does like", Range{0, 100});
    visit("later_day", later_day, "utility that a day of waiting takes", Range{0, 100});
    visit("history", history,
          "most earlier choices of a caller that the seller has seen; each caller's own number is "
          "drawn",
          Range{0, 100});
    visit("max_fee", max_fee, "largest fee, and largest discount", Range{0, 1e6});
    visit("fee_step", fee_step, "fees are multiples of this", Range{0.01, 1000});
    visit("per_km", per_km, "cost of a km", Range{0, 1000});
    visit("per_hour", per_hour, "cost of an hour of a driver, from leaving the depot to the return",
          Range{0, 10'000});
    visit("per_vehicle", per_vehicle, "cost of a vehicle that leaves the depot", Range{0, 1e6});
    visit("per_ride_minute", per_ride_minute, "cost of a minute that a rider is aboard",
          Range{0, 1000});
    visit("lost", lost, "cost of a caller who buys nothing", Range{0, 1e6});
    visit("rounds", rounds, "rounds of ruin and recreate after the last call", Range{0, 1e6});
    visit("sale_rounds", sale_rounds, "the same after each sale", Range{0, 1e6});
    visit("versus", versus,
          "seller whose gain in the same call of the same episode is subtracted from the reward. "
          "none: nothing; null: all slots at no fee; myopic: insertion pricing; blend: that of the "
          "seller blend",
          Choices{"none", "null", "myopic", "blend"});
  }
};

/// How fees are charged: multiples of a step, within a limit.
struct FeeRule {
  double most = 0;
  double step = 1;
  [[nodiscard]] Cents rounded(double fee) const;
};

/// What a plan costs, in cents.
struct SlotPrices {
  Cents km = 0;
  Cents hour = 0;
  Cents vehicle = 0;
  Cents ride_minute = 0;
  Cents lost = 0;  // a caller who buys nothing
};

/// A caller: what the seller knows, and what it does not.
struct SlotCall {
  std::int32_t request = 0;  // of the instance
  double arrival = 0;        // share of the booking horizon that has passed
  double hour = 0;           // wished
  Cents revenue = 0;
  SegmentBelief belief{};                      // over types, by earlier choices
  std::size_t type = 0;                        // hidden
  std::array<double, kMaxSlots + 1> gumbel{};  // hidden: the noise of the choice
};

/// An episode before anything is sold: a function of (config, seed).
struct SlotEpisode {
  Instance instance;  // windows are promised later
  std::vector<SlotCall> calls;
  double expected = 0;  // calls, as the seller knows it
  double side = 1;      // of the map, metres
  std::size_t family = 0;
  std::uint64_t seed = 0;
};

/// What is sold and who calls: a config as values, made once. Const calls may run side by side.
class SlotMarket {
 public:
  /// Throws UsageError for settings that do not go together, and as make_generator() does.
  explicit SlotMarket(const SlotsConfig& config);

  [[nodiscard]] const SlotsConfig& config() const { return config_; }
  [[nodiscard]] const std::vector<SlotTime>& slots() const { return slots_; }
  [[nodiscard]] std::size_t num_slots() const { return slots_.size(); }
  [[nodiscard]] const SlotPrices& prices() const { return prices_; }
  [[nodiscard]] const SlotTaste& taste() const { return taste_; }
  /// The share of the horizon after which a day is closed: the first days close first.
  [[nodiscard]] double cutoff(std::int32_t day) const;
  /// The most calls of an episode.
  [[nodiscard]] std::int64_t most_calls() const { return most_calls_; }

  /// Draws an episode; reuses the memory.
  void draw(std::uint64_t seed, SlotEpisode& into) const;
  /// Draws other episodes of the same size and family: what a seller may imagine.
  void draw_like(const SlotEpisode& like, std::uint64_t seed, SlotEpisode& into) const;

  /// The choice model of a call.
  [[nodiscard]] ChoiceModel model_of(const SlotCall& call) const {
    return model_of_wish(call.hour, slots_, taste_);
  }
  /// The windows that a slot promises to a request.
  [[nodiscard]] std::array<Window, 2> windows_of(const Instance& instance, std::int32_t request,
                                                 std::size_t slot) const;
  [[nodiscard]] FeeRule fee_rule() const {
    return {.most = config_.max_fee, .step = config_.fee_step};
  }
  /// A fee as it is charged, in cents.
  [[nodiscard]] Cents rounded_fee(double fee) const { return fee_rule().rounded(fee); }

 private:
  struct Family {
    std::vector<std::unique_ptr<Generator>> sizes;  // by powers of two
    std::vector<std::int32_t> requests;
  };
  void add_family(const std::string& name);
  void draw_calls(Random& random, SlotEpisode& into) const;
  void draw_person(Random& random, SlotCall& call) const;

  SlotsConfig config_;
  std::vector<SlotTime> slots_;
  SlotPrices prices_;
  SlotTaste taste_;
  std::int64_t most_calls_ = 0;
  std::vector<Family> families_;
};

}  // namespace penstock::booking
