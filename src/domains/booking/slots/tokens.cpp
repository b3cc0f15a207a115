#include "penstock/domains/booking/slots/tokens.h"

#include <algorithm>
#include <cmath>

namespace penstock::booking {
namespace {

constexpr std::array<SlotLevel, kSlotLevels> kLevels = {{
    {.insertion = 0, .blend = 0, .extra = 0},  // withheld
    {.insertion = 1, .blend = 0, .extra = 0},
    {.insertion = 0, .blend = 1, .extra = 0},
    {.insertion = 0, .blend = 1, .extra = -0.75},
    {.insertion = 0, .blend = 1, .extra = 0.75},
    {.insertion = 0, .blend = 1, .extra = 2},
    {.insertion = 0.5, .blend = 0.5, .extra = 0},
    {.insertion = 0.5, .blend = 0, .extra = 0},
    {.insertion = 0.5, .blend = 0, .extra = 1},
    {.insertion = 0.2, .blend = 0, .extra = 1},
}};
constexpr double kMoney = 100;  // cents
constexpr double kMostCost = 12;
constexpr double kUsualStop = 900;  // seconds that a vehicle spends on a stop, about

/// What the booked stops say of a slot.
struct SlotPool {
  double nearest = 1;  // share of the map's side
  double near = 0;     // stops within a tenth of the side
  double slack = 0;    // mean seconds that they may begin later
  double stops = 0;
};

using Pools = std::array<SlotPool, kMaxSlots>;

/// One pass over the routes.
Pools pools_of(const SlotDay& day) {
  Pools pools;
  const Instance& instance = day.episode().instance;
  const std::int32_t here = instance.first_node(day.call().request);
  const double side = day.episode().side;
  for (std::size_t d = 0; d < static_cast<std::size_t>(day.market().config().days); ++d) {
    for (std::int32_t v = 0; v < instance.vehicles; ++v) {
      for (const Stop& stop : day.routes(d).stops(v)) {
        if (stop.node == 0) { continue; }
        const std::int32_t slot = day.slot_of(instance.request_of(stop.node));
        if (slot < 0) { continue; }
        SlotPool& pool = pools[slot];
        const double far = instance.distance_of(here, stop.node) / side;
        pool.nearest = std::min(pool.nearest, far);
        pool.near += far < 0.1 ? 1 : 0;
        const Node& node = instance.nodes[stop.node];
        pool.slack += stop.latest + node.service - stop.leave;
        ++pool.stops;
      }
    }
  }
  for (SlotPool& pool : pools) { pool.slack /= std::max(pool.stops, 1.0); }
  return pools;
}

/// What is the same for all slots of a call.
struct Situation {
  double revenue = 0;  // all money in units of 1 / beta
  double least = 0;    // insertion
  double mean = 0;
  double fitting = 0;  // share of the slots
  double left = 0;     // calls expected to come
  double sure = 0;     // the largest chance of a type
  double used = 0;     // share of the vehicles
  double depot = 0;    // distance, share of the side
  double buys = 0;     // chance by insertion pricing
  ChoiceModel model;
  std::array<double, kMaxSlots> costs{};
  std::array<double, kMaxSlots> at_no_fee{};  // chances
  std::array<double, kMaxSlots> priced{};     // chances by insertion pricing
  std::array<double, kMaxSlots> fees{};       // of insertion pricing
};

double share_used(const SlotDay& day) {
  const std::int64_t days = day.market().config().days;
  const std::int32_t vehicles = day.episode().instance.vehicles;
  double used = 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(days); ++d) {
    for (std::int32_t v = 0; v < vehicles; ++v) { used += day.routes(d).is_empty(v) ? 0 : 1; }
  }
  return used / (vehicles * days);
}

void add_chances(SlotDay& day, Situation& now) {
  const std::size_t count = day.market().num_slots();
  const SlotOffer offer = priced_offer(day, day.call().belief, now.costs);
  std::array<double, kMaxSlots> none{};
  for (std::size_t s = 0; s < count; ++s) {
    const bool fits = now.costs[s] != kWithheld;
    none[s] = fits ? 0 : kWithheld;
    now.fees[s] = fits ? offer.fees[s] / kMoney : kWithheld;
  }
  now.model.chances(day.call().belief, none, now.at_no_fee);
  now.model.chances(day.call().belief, now.fees, now.priced);
  for (std::size_t s = 0; s < count; ++s) { now.buys += now.priced[s]; }
}

Situation situation_of(SlotDay& day) {
  const SlotMarket& market = day.market();
  const SlotCall& call = day.call();
  const double beta = market.taste().beta;
  Situation now{.revenue = beta * call.revenue / kMoney,
                .least = kMostCost,
                .left = day.episode().expected * (1 - call.arrival),
                .sure = *std::ranges::max_element(call.belief),
                .used = share_used(day),
                .model = market.model_of(call)};
  now.costs = insertion_costs(day);
  double fitting = 0;
  for (std::size_t s = 0; s < market.num_slots(); ++s) {
    if (now.costs[s] == kWithheld) { continue; }
    const double cost = std::min(beta * now.costs[s], kMostCost);
    now.least = std::min(now.least, cost);
    now.mean += cost;
    ++fitting;
  }
  now.mean = fitting > 0 ? now.mean / fitting : kMostCost;
  now.fitting = fitting / market.num_slots();
  const Instance& instance = day.episode().instance;
  now.depot = instance.distance_of(0, instance.first_node(call.request)) / day.episode().side;
  add_chances(day, now);
  return now;
}

/// Numbers one behind the other.
class TokenWriter {
 public:
  explicit TokenWriter(std::span<float> token) : token_(token) {}
  void add(double number) { token_[at_++] = static_cast<float>(number); }

 private:
  std::span<float> token_;
  std::size_t at_ = 0;
};

void write_slot(const SlotDay& day, const SlotQuote& quote, std::size_t s, const SlotPool& pool,
                const Situation& now, TokenWriter out) {
  const SlotMarket& market = day.market();
  const SlotTime& time = market.slots()[s];
  const double beta = market.taste().beta;
  const double cost = quote.fits ? std::clamp(beta * quote.cost / kMoney, -2.0, kMostCost) : 0;
  const double vehicles = day.episode().instance.vehicles;
  const double seconds = (time.to - time.from) * 3600;
  const bool opens = quote.fits && day.routes(time.day).is_empty(quote.place.vehicle);
  out.add(1);
  out.add(quote.fits ? 1 : 0);
  out.add(quote.open ? 1 : 0);
  out.add(cost / 3);
  out.add(quote.fits ? (cost - now.least) / 3 : 0);
  out.add(std::log1p(std::max(cost, 0.0)));
  out.add(opens ? 1 : 0);
  out.add(day.sold_by_slot()[s] * kUsualStop / (vehicles * seconds));
  out.add(day.sold_by_slot()[s] * market.num_slots() / (day.episode().expected + 1));
  out.add(pool.nearest * 2);
  out.add(std::min(pool.near, 6.0) / 3);
  out.add(pool.slack / seconds);
  out.add(now.at_no_fee[s] * 2);
  out.add(now.priced[s] * 2);
  out.add(quote.fits ? beta * now.fees[s] : 0);
  out.add((time.from + time.to - 28) / 12);
  out.add(time.day);
  out.add(market.cutoff(time.day) - day.call().arrival);
}

void write_global(const SlotDay& day, const Situation& now, TokenWriter out) {
  const SlotEpisode& episode = day.episode();
  const double vehicles = episode.instance.vehicles;
  const double days = day.market().config().days;
  const double sold = day.tally().sold;
  const double beta = day.market().taste().beta;
  const double average = sold > 0 ? beta * day.cost() / kMoney / sold : kMostCost / 2;
  out.add(day.call().arrival * 2 - 1);
  out.add(std::log1p(now.left) / 2 - 1);
  out.add(now.left / (vehicles * days) / 10);
  out.add(episode.expected / (vehicles * days) / 10 - 1);
  out.add(std::log(episode.expected) - 4);
  out.add(now.revenue / 5);
  out.add(now.used);
  out.add(now.mean / 3);
  out.add(now.least / 3);
  out.add(now.fitting);
  out.add(std::min(average, kMostCost) / 3);
  out.add(now.buys);
  out.add(now.depot);
  out.add(episode.instance.mode == Mode::ride ? 1 : 0);
}

}  // namespace

void write_slot_tokens(SlotDay& day, std::span<float> tokens, std::span<bool> legal) {
  std::ranges::fill(tokens, 0.0F);
  std::ranges::fill(legal, false);
  for (std::size_t s = 0; s < kMaxSlots; ++s) { legal[s * kSlotLevels] = true; }
  if (day.over()) { return; }
  const auto quotes = day.quote();
  const Situation now = situation_of(day);
  const Pools pools = pools_of(day);
  constexpr std::size_t kOwn = 18;
  for (std::size_t s = 0; s < quotes.size(); ++s) {
    const auto token = tokens.subspan(s * kSlotFeatures, kSlotFeatures);
    write_slot(day, quotes[s], s, pools[s], now, TokenWriter(token));
    write_global(day, now, TokenWriter(token.subspan(kOwn)));
    if (quotes[s].fits) { std::ranges::fill(legal.subspan(s * kSlotLevels, kSlotLevels), true); }
  }
}

SlotOffer offer_of_levels(SlotDay& day, std::span<const std::int64_t> levels) {
  std::array<double, kMaxSlots> costs = insertion_costs(day);
  const std::array<double, kMaxSlots> blended = blended_costs(day);
  const double unit = 1 / day.market().taste().beta;
  for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
    const std::size_t chosen = levels[s];
    if (chosen == 0) { costs[s] = kWithheld; }
    if (costs[s] == kWithheld) { continue; }
    const SlotLevel& level = kLevels[chosen];
    costs[s] = level.insertion * costs[s] + level.blend * blended[s] + level.extra * unit;
  }
  return priced_offer(day, day.call().belief, costs);
}

}  // namespace penstock::booking
