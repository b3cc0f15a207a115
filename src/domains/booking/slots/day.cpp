#include "penstock/domains/booking/slots/day.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace penstock::booking {
namespace {

constexpr std::uint32_t kImproveOwner = 0x696d7072;

/// A route without its visits of the depot.
std::span<const Stop> inner(std::span<const Stop> stops) {
  return stops.subspan(1, stops.size() - 2);
}

}  // namespace

void SlotDay::begin(const SlotMarket& market, std::uint64_t seed) {
  market.draw(seed, episode_);
  start(market);
}

void SlotDay::resume(const SlotMarket& market, SlotEpisode& episode, std::span<const Plan> plans) {
  std::swap(episode_, episode);
  start(market);
  for (std::size_t day = 0; day < plans.size(); ++day) {
    routes_[day].load(episode_.instance, plans[day]);
    cost_ += day_cost(day);
    for (std::int32_t r = 0; r < episode_.instance.num_requests(); ++r) {
      if (routes_[day].vehicle_of(r) >= 0) { served_[day].push_back(r); }
    }
  }
}

void SlotDay::start(const SlotMarket& market) {
  market_ = &market;
  const std::size_t days = market.config().days;
  const std::size_t vehicles = episode_.instance.vehicles;
  routes_.resize(days);
  route_cost_.resize(days);
  served_.resize(days);
  for (std::size_t day = 0; day < days; ++day) {
    routes_[day].clear(episode_.instance);
    route_cost_[day].assign(vehicles, 0);
    served_[day].clear();
  }
  slot_of_.assign(episode_.instance.num_requests(), -1);
  sold_by_slot_.fill(0);
  next_ = 0;
  quoted_ = false;
  last_choice_ = kNoPurchase;
  tally_ = {};
  cost_ = 0;
}

Cents SlotDay::day_cost(std::size_t day) {
  Cents sum = 0;
  for (std::int32_t v = 0; v < episode_.instance.vehicles; ++v) {
    sequence_.clear();
    for (const Stop& stop : inner(routes_[day].stops(v))) { sequence_.push_back(stop.node); }
    Cents& cost = route_cost_[day][v];
    cost = route_cents(episode_.instance, sequence_, market_->prices());
    sum += cost;
  }
  return sum;
}

/// The route with the request in its place, whose nodes get the slot's windows on the way.
void SlotDay::build_with(std::size_t day, std::int32_t request, const Insertion& place,
                         const RequestWindows& windows) {
  Instance& instance = episode_.instance;
  const std::int32_t first = instance.first_node(request);
  const std::size_t at = first;
  instance.nodes[at].window = windows[0];
  if (instance.mode == Mode::ride) { instance.nodes[at + 1].window = windows[1]; }
  const bool ride = instance.mode == Mode::ride;
  const auto stops = routes_[day].stops(place.vehicle);
  sequence_.clear();
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    if (i > 0) { sequence_.push_back(stops[i].node); }
    if (std::cmp_equal(i, place.first)) { sequence_.push_back(first); }
    if (ride && std::cmp_equal(i, place.second)) { sequence_.push_back(first + 1); }
  }
}

Cents SlotDay::cost_with(std::size_t day, std::int32_t request, const Insertion& place,
                         const RequestWindows& windows) {
  build_with(day, request, place, windows);
  return route_cents(episode_.instance, sequence_, market_->prices());
}

std::span<const std::int32_t> SlotDay::route_with(std::size_t slot) {
  quote();
  const std::int32_t request = call().request;
  build_with(market_->slots()[slot].day, request, quotes_[slot].place,
             market_->windows_of(episode_.instance, request, slot));
  return sequence_;
}

std::span<const SlotQuote> SlotDay::quote() {
  const std::size_t count = market_->num_slots();
  if (quoted_) { return std::span(quotes_).first(count); }
  quoted_ = true;
  const SlotCall& waiting = call();
  for (std::size_t s = 0; s < count; ++s) {
    const std::int32_t day = market_->slots()[s].day;
    const std::size_t d = day;
    SlotQuote& quote = quotes_[s];
    quote = {.open = waiting.arrival <= market_->cutoff(day)};
    if (!quote.open) { continue; }
    const RequestWindows windows = market_->windows_of(episode_.instance, waiting.request, s);
    quote.place = routes_[d].cheapest(waiting.request, windows);
    quote.fits = quote.place.fits();
    if (!quote.fits) { continue; }
    quote.cost =
        cost_with(d, waiting.request, quote.place, windows) - route_cost_[d][quote.place.vehicle];
  }
  return std::span(quotes_).first(count);
}

Cents SlotDay::sell(std::span<const Cents> fees, std::span<const bool> withheld) {
  constexpr double kCents = 100;
  quote();
  std::array<double, kMaxSlots> offered{};
  for (std::size_t s = 0; s < market_->num_slots(); ++s) {
    const bool on = quotes_[s].fits && !withheld[s];
    offered[s] = on ? fees[s] / kCents : kWithheld;
  }
  const SlotCall& caller = call();
  const ChoiceModel model = market_->model_of(caller);
  last_choice_ = model.choose(caller.type, offered, caller.gumbel);
  const Cents before = cost_;
  if (last_choice_ == kNoPurchase) {
    tally_.profit -= market_->prices().lost;
    return finish_call(before) - market_->prices().lost;
  }
  const std::size_t slot = last_choice_;
  const Cents paid = caller.revenue + fees[slot];
  tally_.revenue += caller.revenue;
  tally_.fees += fees[slot];
  tally_.profit += paid;
  promise(slot);
  return finish_call(before) + paid;
}

Cents SlotDay::take(std::size_t slot) {
  quote();
  const Cents before = cost_;
  last_choice_ = slot;
  const Cents revenue = call().revenue;
  tally_.revenue += revenue;
  tally_.profit += revenue;
  promise(slot);
  return finish_call(before) + revenue;
}

void SlotDay::promise(std::size_t slot) {
  const SlotQuote& quote = quotes_[slot];
  const std::int32_t request = call().request;
  const std::size_t day = market_->slots()[slot].day;
  const RequestWindows windows = market_->windows_of(episode_.instance, request, slot);
  Cents& route = route_cost_[day][quote.place.vehicle];
  route = cost_with(day, request, quote.place, windows);
  routes_[day].insert(request, quote.place);
  cost_ += quote.cost;
  served_[day].push_back(request);
  slot_of_[request] = slot;
  ++sold_by_slot_[slot];
  ++tally_.sold;
  if (market_->config().sale_rounds > 0) { improve(day, market_->config().sale_rounds); }
}

/// Ends the call, and after the last one improves the plans. Returns what the plans became cheaper
/// by since `before`.
Cents SlotDay::finish_call(Cents before) {
  ++tally_.calls;
  ++next_;
  quoted_ = false;
  if (over() && market_->config().rounds > 0) {
    for (std::size_t day = 0; day < routes_.size(); ++day) {
      improve(day, market_->config().rounds);
    }
  }
  tally_.profit += before - cost_;
  return before - cost_;
}

/// The search shortens routes; a shorter plan whose drivers are out longer may cost more, and is
/// then given up.
void SlotDay::improve(std::size_t day, std::int64_t rounds) {
  Random random({.seed = episode_.seed, .owner = kImproveOwner, .episode = next_});
  RouteSet& routes = routes_[day];
  const Cents old = std::accumulate(route_cost_[day].begin(), route_cost_[day].end(), Cents{0});
  routes.store(before_);
  relocate(routes, served_[day]);
  search_.improve(routes, served_[day], rounds, random);
  Cents now = day_cost(day);
  if (now > old) {
    routes.load(episode_.instance, before_);
    now = day_cost(day);
  }
  cost_ += now - old;
}

}  // namespace penstock::booking
