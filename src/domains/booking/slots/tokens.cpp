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

void add_stops(const SlotDay& day, SlotState& state) {
  const Instance& instance = day.episode().instance;
  const std::int32_t here = instance.first_node(day.call().request);
  const double side = day.episode().side;
  for (std::size_t d = 0; d < static_cast<std::size_t>(day.market().config().days); ++d) {
    for (std::int32_t v = 0; v < instance.vehicles; ++v) {
      state.used += day.routes(d).is_empty(v) ? 0 : 1;
      for (const Stop& stop : day.routes(d).stops(v)) {
        if (stop.node == 0) { continue; }
        const std::int32_t slot = day.slot_of(instance.request_of(stop.node));
        if (slot < 0) { continue; }
        const Node& node = instance.nodes[stop.node];
        state.slots[slot].add_stop(instance.distance_of(here, stop.node) / side,
                                   stop.latest + node.service - stop.leave);
      }
    }
  }
  state.used /= state.vehicles * state.days;
}

void add_slots(SlotDay& day, SlotState& state) {
  const SlotMarket& market = day.market();
  const auto quotes = day.quote();
  state.num_slots = quotes.size();
  for (std::size_t s = 0; s < quotes.size(); ++s) {
    const SlotTime& time = market.slots()[s];
    SlotView& slot = state.slots[s];
    slot = {.time = time,
            .open = quotes[s].open,
            .fits = quotes[s].fits,
            .cost = quotes[s].cost,
            .until_cutoff = market.cutoff(time.day) - day.call().arrival,
            .sold = day.sold_by_slot()[s]};
    slot.opens_vehicle = slot.fits && day.routes(time.day).is_empty(quotes[s].place.vehicle);
  }
}

/// What is the same for all slots of a call.
struct Situation {
  double revenue = 0;  // all money in units of 1 / beta
  double least = 0;    // insertion
  double mean = 0;
  double fitting = 0;  // share of the slots
  double left = 0;     // calls expected to come
  double buys = 0;     // chance by insertion pricing
  std::array<double, kMaxSlots> costs{};
  std::array<double, kMaxSlots> at_no_fee{};  // chances
  std::array<double, kMaxSlots> priced{};     // chances by insertion pricing
  std::array<double, kMaxSlots> fees{};       // of insertion pricing
};

void add_chances(const SlotState& state, Situation& now) {
  const SlotOffer offer = priced_offer(state.model.merged(state.belief), state.revenue / kMoney,
                                       state.fees, std::span(now.costs).first(state.num_slots));
  std::array<double, kMaxSlots> none{};
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    const bool fits = now.costs[s] != kWithheld;
    none[s] = fits ? 0 : kWithheld;
    now.fees[s] = fits ? offer.fees[s] / kMoney : kWithheld;
  }
  state.model.chances(state.belief, none, now.at_no_fee);
  state.model.chances(state.belief, now.fees, now.priced);
  for (std::size_t s = 0; s < state.num_slots; ++s) { now.buys += now.priced[s]; }
}

std::array<double, kMaxSlots> insertions_of(const SlotState& state) {
  std::array<double, kMaxSlots> costs{};
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    costs[s] = state.slots[s].fits ? state.slots[s].cost / kMoney : kWithheld;
  }
  return costs;
}

Situation situation_of(const SlotState& state) {
  Situation now{.revenue = state.beta * state.revenue / kMoney,
                .least = kMostCost,
                .left = state.expected * (1 - state.passed),
                .costs = insertions_of(state)};
  double fitting = 0;
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    if (now.costs[s] == kWithheld) { continue; }
    const double cost = std::min(state.beta * now.costs[s], kMostCost);
    now.least = std::min(now.least, cost);
    now.mean += cost;
    ++fitting;
  }
  now.mean = fitting > 0 ? now.mean / fitting : kMostCost;
  now.fitting = fitting / state.num_slots;
  add_chances(state, now);
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

void write_slot(const SlotState& state, std::size_t s, const Situation& now, TokenWriter out) {
  const SlotView& slot = state.slots[s];
  const SlotTime& time = slot.time;
  const double beta = state.beta;
  const double cost = slot.fits ? std::clamp(beta * slot.cost / kMoney, -2.0, kMostCost) : 0;
  const double seconds = (time.to - time.from) * 3600;
  const double slack = slot.slack / std::max(slot.stops, 1);
  out.add(1);
  out.add(slot.fits ? 1 : 0);
  out.add(slot.open ? 1 : 0);
  out.add(cost / 3);
  out.add(slot.fits ? (cost - now.least) / 3 : 0);
  out.add(std::log1p(std::max(cost, 0.0)));
  out.add(slot.opens_vehicle ? 1 : 0);
  out.add(slot.sold * kUsualStop / (state.vehicles * seconds));
  out.add(slot.sold * state.num_slots / (state.expected + 1));
  out.add(slot.nearest * 2);
  out.add(std::min(slot.near, 6.0) / 3);
  out.add(slack / seconds);
  out.add(now.at_no_fee[s] * 2);
  out.add(now.priced[s] * 2);
  out.add(slot.fits ? beta * now.fees[s] : 0);
  out.add((time.from + time.to - 28) / 12);
  out.add(time.day);
  out.add(slot.until_cutoff);
}

void write_global(const SlotState& state, const Situation& now, TokenWriter out) {
  const double all_vehicles = state.vehicles * state.days;
  const double average =
      state.sold > 0 ? state.beta * state.cost / kMoney / state.sold : kMostCost / 2;
  out.add(state.passed * 2 - 1);
  out.add(std::log1p(now.left) / 2 - 1);
  out.add(now.left / all_vehicles / 10);
  out.add(state.expected / all_vehicles / 10 - 1);
  out.add(std::log(state.expected) - 4);
  out.add(now.revenue / 5);
  out.add(state.used);
  out.add(now.mean / 3);
  out.add(now.least / 3);
  out.add(now.fitting);
  out.add(std::min(average, kMostCost) / 3);
  out.add(now.buys);
  out.add(state.depot);
  out.add(state.ride ? 1 : 0);
}

double cost_of_level(std::int64_t level, double insertion, double blended, double beta) {
  if (level == 0 || insertion == kWithheld) { return kWithheld; }
  const SlotLevel& parts = kLevels[level];
  return parts.insertion * insertion + parts.blend * blended + parts.extra * (1 / beta);
}

void write_nothing(std::span<float> tokens, std::span<bool> legal) {
  std::ranges::fill(tokens, 0.0F);
  std::ranges::fill(legal, false);
  for (std::size_t s = 0; s < kMaxSlots; ++s) { legal[s * kSlotLevels] = true; }
}

}  // namespace

void SlotView::add_stop(double far, double seconds_of_slack) {
  constexpr double kNear = 0.1;
  nearest = std::min(nearest, far);
  near += far < kNear ? 1 : 0;
  slack += seconds_of_slack;
  ++stops;
}

SlotState state_of(SlotDay& day) {
  const SlotMarket& market = day.market();
  const SlotEpisode& episode = day.episode();
  const Instance& instance = episode.instance;
  const SlotCall& call = day.call();
  SlotState state{.model = market.model_of(call),
                  .belief = call.belief,
                  .beta = market.taste().beta,
                  .fees = market.fee_rule(),
                  .revenue = call.revenue,
                  .passed = call.arrival,
                  .expected = episode.expected,
                  .sold = day.tally().sold,
                  .cost = day.cost(),
                  .ride = instance.mode == Mode::ride};
  state.days = market.config().days;
  state.vehicles = instance.vehicles;
  state.depot = instance.distance_of(0, instance.first_node(call.request)) / episode.side;
  add_slots(day, state);
  add_stops(day, state);
  return state;
}

void write_slot_tokens(const SlotState& state, std::span<float> tokens, std::span<bool> legal) {
  write_nothing(tokens, legal);
  const Situation now = situation_of(state);
  constexpr std::size_t kOwn = 18;
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    const auto token = tokens.subspan(s * kSlotFeatures, kSlotFeatures);
    write_slot(state, s, now, TokenWriter(token));
    write_global(state, now, TokenWriter(token.subspan(kOwn)));
    if (state.slots[s].fits) {
      std::ranges::fill(legal.subspan(s * kSlotLevels, kSlotLevels), true);
    }
  }
}

void write_slot_tokens(SlotDay& day, std::span<float> tokens, std::span<bool> legal) {
  if (day.over()) { return write_nothing(tokens, legal); }
  write_slot_tokens(state_of(day), tokens, legal);
}

std::array<double, kMaxSlots> costs_of_levels(const SlotState& state,
                                              std::span<const std::int64_t> levels) {
  std::array<double, kMaxSlots> costs = insertions_of(state);
  for (std::size_t s = 0; s < state.num_slots; ++s) {
    const double blended = blended_cost(costs[s], state.passed, state.beta);
    costs[s] = cost_of_level(levels[s], costs[s], blended, state.beta);
  }
  return costs;
}

SlotOffer offer_of_levels(SlotDay& day, std::span<const std::int64_t> levels) {
  std::array<double, kMaxSlots> costs = insertion_costs(day);
  const std::array<double, kMaxSlots> blended = blended_costs(day);
  const double beta = day.market().taste().beta;
  for (std::size_t s = 0; s < day.market().num_slots(); ++s) {
    costs[s] = cost_of_level(levels[s], costs[s], blended[s], beta);
  }
  return priced_offer(day, day.call().belief, costs);
}

}  // namespace penstock::booking
