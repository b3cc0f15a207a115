#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/routing/route_set.h"
#include "penstock/domains/booking/routing/search.h"
#include "penstock/domains/booking/slots/market.h"

namespace penstock::booking {

/// What a slot would cost for the call that waits.
struct SlotQuote {
  bool open = false;  // its day takes bookings still
  bool fits = false;  // and the routes have a place
  Insertion place;
  Cents cost = 0;  // that the plan grows by, at that place
};

/// What was sold, and for how much.
struct SlotTally {
  std::int32_t calls = 0;
  std::int32_t sold = 0;
  Cents revenue = 0;
  Cents fees = 0;
  Cents profit = 0;
};

/// One episode of selling: customers call, see slots with fees, take one or none; a sale is put
/// into the routes of its day where it is cheapest; after the last call the plans are improved.
/// What sell() returns adds up to revenue + fees - lost sales - the cost of the final plans, to the
/// cent. Allocates nothing after its first episodes. Not movable: routes point into it.
///
///     day.begin(market, seed);
///     while (!day.over()) { day.sell(fees_for(day.quote())); }
class SlotDay {
 public:
  SlotDay() = default;
  SlotDay(const SlotDay&) = delete;
  SlotDay& operator=(const SlotDay&) = delete;

  /// The market must outlive the episode.
  void begin(const SlotMarket& market, std::uint64_t seed);
  /// An episode that continues another seller's: `plans` [days] serve requests of the instance,
  /// whose windows are promised; the calls of `episode` are still to come.
  void resume(const SlotMarket& market, SlotEpisode& episode, std::span<const Plan> plans);

  [[nodiscard]] const SlotMarket& market() const { return *market_; }
  [[nodiscard]] const SlotEpisode& episode() const { return episode_; }
  [[nodiscard]] bool over() const { return next_ == episode_.calls.size(); }
  /// The one who waits. Not when it is over.
  [[nodiscard]] const SlotCall& call() const { return episode_.calls[next_]; }
  [[nodiscard]] std::size_t num_called() const { return next_; }
  [[nodiscard]] const SlotTally& tally() const { return tally_; }
  [[nodiscard]] const RouteSet& routes(std::size_t day) const { return routes_[day]; }
  [[nodiscard]] Cents cost() const { return cost_; }  // of the plans
  /// The requests that a day serves, and the slot of each request; -1: none.
  [[nodiscard]] std::span<const std::int32_t> served(std::size_t day) const { return served_[day]; }
  [[nodiscard]] std::int32_t slot_of(std::int32_t request) const {
    return slot_of_[static_cast<std::size_t>(request)];
  }
  [[nodiscard]] std::span<const std::int32_t> sold_by_slot() const { return sold_by_slot_; }

  /// Every slot for the call that waits: [slots]. Valid until the next call of sell().
  std::span<const SlotQuote> quote();
  /// The stops of the route that would serve the call that waits in a slot that fits, the call
  /// among them. Valid until the next call of any function.
  std::span<const std::int32_t> route_with(std::size_t slot);
  /// Offers the slots that fit at these fees, in cents; `withheld` [slots] are not offered. Returns
  /// what the call brought, in cents.
  Cents sell(std::span<const Cents> fees, std::span<const bool> withheld);
  /// Puts the call that waits into a slot that fits, as if it had taken it at no fee.
  Cents take(std::size_t slot);
  /// The slot that the last caller took, or kNoPurchase.
  [[nodiscard]] std::int32_t last_choice() const { return last_choice_; }

 private:
  void start(const SlotMarket& market);
  void promise(std::size_t slot);
  void improve(std::size_t day, std::int64_t rounds);
  Cents finish_call(Cents before);
  [[nodiscard]] Cents day_cost(std::size_t day);
  void build_with(std::size_t day, std::int32_t request, const Insertion& place,
                  const RequestWindows& windows);
  [[nodiscard]] Cents cost_with(std::size_t day, std::int32_t request, const Insertion& place,
                                const RequestWindows& windows);

  const SlotMarket* market_ = nullptr;
  SlotEpisode episode_;
  std::size_t next_ = 0;
  bool quoted_ = false;
  std::int32_t last_choice_ = kNoPurchase;
  SlotTally tally_;
  Cents cost_ = 0;
  std::vector<RouteSet> routes_;                   // [days]
  std::vector<std::vector<Cents>> route_cost_;     // [days, vehicles]
  std::vector<std::vector<std::int32_t>> served_;  // [days]
  std::vector<std::int32_t> slot_of_;              // [requests]
  std::array<std::int32_t, kMaxSlots> sold_by_slot_{};
  std::array<SlotQuote, kMaxSlots> quotes_{};
  std::vector<std::int32_t> sequence_;  // room for a route
  RuinRecreate search_;
  Plan before_;
};

/// When a driver leaves for these stops to be out as short as may be: as late as that allows.
Seconds departure(const Instance& instance, std::span<const std::int32_t> nodes);

/// What a route costs: km, the driver's time from leaving as late as it may to the return, the
/// vehicle, and the minutes of riders when everything begins as soon as it can. No stops cost
/// nothing.
Cents route_cents(const Instance& instance, std::span<const std::int32_t> nodes,
                  const SlotPrices& prices);

}  // namespace penstock::booking
