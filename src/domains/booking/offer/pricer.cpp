#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>

#include "domains/booking/offer/starts.h"
#include "penstock/domains/booking/offer/offer.h"
#include "penstock/domains/booking/routing/checker.h"

namespace penstock::booking {
namespace {

/// The route with the request at the place that was found.
std::vector<std::int32_t> with(std::vector<std::int32_t> route, const Insertion& at,
                               std::int32_t first_node, Mode mode) {
  if (mode == Mode::ride) { route.insert(route.begin() + at.second, first_node + 1); }
  route.insert(route.begin() + at.first, first_node);
  return route;
}

/// The routes of `plan` that are not those of `given`; both have one for each vehicle.
std::vector<ChangedRoute> changes(const Plan& given, const Plan& plan) {
  std::vector<ChangedRoute> changed;
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    if (plan.routes[v] == given.routes[v]) { continue; }
    changed.push_back({.vehicle = static_cast<std::int32_t>(v), .nodes = plan.routes[v]});
  }
  return changed;
}

bool contains(Window outer, Window inner) {
  return outer.earliest <= inner.earliest && inner.latest <= outer.latest;
}

bool contains(const RequestWindows& outer, const RequestWindows& inner) {
  return contains(outer[0], inner[0]) && contains(outer[1], inner[1]);
}

/// The part of a window in which the depot is open; it may be none.
Window clipped(Window window, Window day) {
  return {.earliest = std::max(window.earliest, day.earliest),
          .latest = std::min(window.latest, day.latest)};
}

/// An offer's windows inside the working day, or none. Those that were wished are in any case
/// something to speak of.
std::optional<RequestWindows> windows_to_offer(const OfferQuery& query, std::int32_t action) {
  const RequestWindows asked = offered_windows(query.instance, query.request(), query.kind, action);
  RequestWindows windows = asked;
  for (std::int32_t k = 0; k < query.instance.stops_per_request(); ++k) {
    windows[k] = clipped(asked[k], query.instance.nodes[0].window);
    if (windows[k].latest >= windows[k].earliest) { continue; }
    if (action == kNoChange) { return asked; }
    return {};
  }
  return windows;
}

/// The offers that there are, by number. Of several with the same windows, the one that asks the
/// customer for the fewest minutes.
std::vector<PricedOffer> distinct_offers(const OfferQuery& query) {
  std::array<std::int32_t, kOffers> actions{};
  std::iota(actions.begin(), actions.end(), 0);
  std::ranges::stable_sort(actions, {}, offered_minutes);
  std::vector<PricedOffer> offers;
  for (const std::int32_t action : actions) {
    const auto windows = windows_to_offer(query, action);
    if (!windows) { continue; }
    const auto same = [&](const PricedOffer& other) { return other.windows == *windows; };
    if (std::ranges::any_of(offers, same)) { continue; }
    offers.push_back({.action = action, .windows = *windows});
  }
  std::ranges::sort(offers, {}, &PricedOffer::action);
  return offers;
}

bool ranks_before(const PricedOffer& a, const PricedOffer& b) {
  const auto rank = [](const PricedOffer& offer) {
    return std::tuple(!offer.fits, offer.price, offer.fits ? offered_minutes(offer.action) : 0,
                      offer.action);
  };
  return rank(a) < rank(b);
}

}  // namespace

OfferPrices OfferPricer::price(const OfferQuery& query) {
  OfferPrices prices;
  prices.offers = distinct_offers(query);
  begin(query);
  if (oracle_) { search(prices); }
  num_searched_ = found_.size();
  insert(prices);
  prices.base = base_cost_;
  std::vector<Choice> choices;
  for (const PricedOffer& offer : prices.offers) { choices.push_back(choose(offer)); }
  share(prices, choices);
  for (std::size_t i = 0; i < choices.size(); ++i) { tell(choices[i], prices.offers[i]); }
  if (oracle_) { prices.error = shortfall(prices); }
  find_obstacles(prices);
  std::sort(prices.offers.begin(), prices.offers.end(), ranks_before);
  return prices;
}

void OfferPricer::begin(const OfferQuery& query) {
  query_ = &query;
  nodes_ = query.instance.nodes;
  if (oracle_) { instance_ = query.instance; }
  found_.clear();
  given_rides_.clear();
  for (const auto& route : query.plan.routes) { given_rides_.push_back(ride_of(route)); }
  base_ = query.plan;
  base_cost_ = cost_of(query.instance, base_);
  base_ride_ = std::accumulate(given_rides_.begin(), given_rides_.end(), std::int64_t{0});
}

void OfferPricer::promise_offer(const PricedOffer& offer) {
  const std::int32_t first = query_->instance.first_node(query_->request());
  for (std::int32_t k = 0; k < query_->instance.stops_per_request(); ++k) {
    nodes_[first + k].window = offer.windows[k];
  }
  if (oracle_) { promise(instance_, query_->request(), offer.windows); }
}

OfferPricer::Value OfferPricer::value_of(Cost cost, std::int64_t ride) const {
  return 60 * cost + query_->per_ride_minute * ride;
}

/// Of a route or plan that does not serve the new request.
std::int64_t OfferPricer::ride_of(const std::vector<std::int32_t>& route) const {
  const Instance& instance = query_->instance;
  if (instance.mode != Mode::ride) { return 0; }
  return ride_seconds(instance, route, late_starts_of(instance, instance.nodes, route));
}
std::int64_t OfferPricer::ride_of(const Plan& plan) const {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    const auto& route = plan.routes[v];
    sum += route == query_->plan.routes[v] ? given_rides_[v] : ride_of(route);
  }
  return sum;
}

/// Plans the base anew, then every offer from there, each search with a seed of its own: what one
/// finds serves all.
void OfferPricer::search(const OfferPrices& prices) {
  served_.resize(query_->request());
  std::iota(served_.begin(), served_.end(), 0);
  const std::size_t vehicles = query_->plan.routes.size();
  if (!served_.empty()) {
    Plan plan = query_->plan;
    RoutingProblem problem{.instance = &query_->instance,
                           .served = served_,
                           .request = RoutingProblem::kNoRequest,
                           .seed = kOffers,
                           .plan = &plan};
    oracle_->solve({&problem, 1});
    plan.routes.resize(vehicles);
    take_base(std::move(plan), problem.cost);
  }
  searched_base_ = base_cost_;
  const Plan start = base_;
  for (const PricedOffer& offer : prices.offers) {
    promise_offer(offer);
    Plan plan = start;
    RoutingProblem problem{.instance = &instance_,
                           .served = served_,
                           .request = query_->request(),
                           .seed = static_cast<std::uint64_t>(offer.action),
                           .plan = &plan};
    oracle_->solve({&problem, 1});
    if (!problem.fits) { continue; }
    plan.routes.resize(vehicles);
    leave_out(plan);
    add_found(offer, changes(query_->plan, plan), problem.cost);
  }
}

/// A plan of the others that is worth more becomes the base.
void OfferPricer::take_base(Plan plan, Cost cost) {
  const std::int64_t ride = ride_of(plan);
  if (value_of(cost, ride) >= value_of(base_cost_, base_ride_)) { return; }
  base_ = std::move(plan);
  base_cost_ = cost;
  base_ride_ = ride;
}

/// What a plan is without the new request is a plan of the others.
void OfferPricer::leave_out(const Plan& plan) {
  Plan rest = plan;
  const Instance& instance = query_->instance;
  const std::int32_t first = instance.first_node(query_->request());
  for (auto& route : rest.routes) {
    // Without the triangle inequality, whoever leaves somebody out may come late.
    if (std::erase_if(route, [&](std::int32_t node) { return node >= first; }) > 0 &&
        !keeps_promises(instance, instance.nodes, route)) {
      return;
    }
  }
  const Cost cost = cost_of(instance, rest);
  take_base(std::move(rest), cost);
}

/// The cheapest places in the base, which the searches may have missed.
void OfferPricer::insert(const OfferPrices& prices) {
  tours_.load(query_->instance, base_);
  const std::vector<ChangedRoute> before = changes(query_->plan, base_);
  const std::int32_t first = query_->instance.first_node(query_->request());
  for (const PricedOffer& offer : prices.offers) {
    const Insertion place = tours_.cheapest(query_->request(), offer.windows);
    if (!place.fits()) { continue; }
    std::vector<ChangedRoute> routes = before;
    std::erase_if(routes, [&](const auto& route) { return route.vehicle == place.vehicle; });
    routes.push_back(
        {.vehicle = place.vehicle,
         .nodes = with(base_.routes[place.vehicle], place, first, query_->instance.mode)});
    promise_offer(offer);
    add_found(offer, std::move(routes), base_cost_ + place.added);
  }
}

/// With timetables, for the windows that are promised now.
void OfferPricer::add_found(const PricedOffer& offer, std::vector<ChangedRoute> routes, Cost cost) {
  Found found{.cost = cost, .action = offer.action, .windows = offer.windows};
  const Instance& instance = query_->instance;
  const std::int32_t first = instance.first_node(query_->request());
  found.other_ride = std::accumulate(given_rides_.begin(), given_rides_.end(), std::int64_t{0});
  for (std::size_t i = 0; i < routes.size(); ++i) {
    ChangedRoute& route = routes[i];
    route.starts = late_starts_of(instance, nodes_, route.nodes);
    found.other_ride -= given_rides_[route.vehicle];
    if (std::ranges::find(route.nodes, first) != route.nodes.end()) {
      found.own = i;
    } else {
      found.other_ride += ride_seconds(instance, route.nodes, route.starts);
    }
  }
  found.routes = std::move(routes);
  found_.push_back(std::move(found));
}

/// Whether a plan keeps the offer's windows, which are promised now: its other routes do in any
/// case.
bool OfferPricer::keeps(const Found& found, const PricedOffer& offer) const {
  return contains(offer.windows, found.windows) ||
         keeps_promises(query_->instance, nodes_, found.routes[found.own].nodes);
}

/// Takes the plan for the offer if it is worth more than the best so far.
void OfferPricer::weigh(const Found& found, const PricedOffer& offer, Choice& best) const {
  if (value_of(found.cost, found.other_ride) >= best.value || !keeps(found, offer)) { return; }
  const ChangedRoute& own = found.routes[found.own];
  std::vector<Seconds> starts = found.action == offer.action
                                    ? own.starts
                                    : late_starts_of(query_->instance, nodes_, own.nodes);
  const std::int64_t ride = found.other_ride + ride_seconds(query_->instance, own.nodes, starts);
  const Value value = value_of(found.cost, ride);
  if (value < best.value) { best = {&found, std::move(starts), ride, value}; }
}

/// The best plan of all that were found and keep the offer's windows.
OfferPricer::Choice OfferPricer::choose(const PricedOffer& offer) {
  Choice best;
  promise_offer(offer);
  for (const Found& found : found_) {
    // The cheapest place of all needs no other offer's, unless rides count.
    const bool own = found.action == offer.action;
    if (own || oracle_ || query_->per_ride_minute > 0) { weigh(found, offer, best); }
  }
  return best;
}

/// An offer that contains another has all of its plans and timetables, and so is never dearer.
/// Without this, a timetable that is not the best could make it so.
void OfferPricer::share(const OfferPrices& prices, std::vector<Choice>& choices) const {
  const std::vector<Choice> alone = choices;
  for (std::size_t wide = 0; wide < choices.size(); ++wide) {
    for (std::size_t narrow = 0; narrow < choices.size(); ++narrow) {
      if (alone[narrow].found == nullptr || alone[narrow].value >= choices[wide].value) {
        continue;
      }
      if (contains(prices.offers[wide].windows, prices.offers[narrow].windows)) {
        choices[wide] = alone[narrow];
      }
    }
  }
}

void OfferPricer::tell(const Choice& choice, PricedOffer& offer) const {
  offer.fits = choice.found != nullptr;
  if (!offer.fits) { return; }
  offer.added = choice.found->cost - base_cost_;
  offer.added_ride = choice.ride - base_ride_;
  offer.price = static_cast<double>(choice.value - value_of(base_cost_, base_ride_)) / 60;
  offer.routes = choice.found->routes;
  offer.routes[choice.found->own].starts = choice.own_starts;
}

void OfferPricer::find_obstacles(OfferPrices& prices) {
  if (std::ranges::all_of(prices.offers, &PricedOffer::fits)) { return; }
  for (PricedOffer& offer : prices.offers) {
    offer.obstacle = offer.fits ? Obstacle::none : Obstacle::several;
  }
  instance_ = query_->instance;
  for (const Obstacle obstacle :
       {Obstacle::capacity, Obstacle::ride, Obstacle::day, Obstacle::window}) {
    try_without(obstacle, prices);
  }
}

/// Names the obstacle where a place appears in the base as soon as it is away.
void OfferPricer::try_without(Obstacle obstacle, OfferPrices& prices) {
  constexpr Seconds kLong = 2 * 604800;
  const Window day = query_->instance.nodes[0].window;
  const bool free = obstacle == Obstacle::capacity;
  instance_.capacity =
      free ? std::numeric_limits<std::int32_t>::max() / 2 : query_->instance.capacity;
  instance_.max_ride = obstacle == Obstacle::ride ? 0 : query_->instance.max_ride;
  instance_.nodes[0].window = obstacle == Obstacle::day ? Window{0, kLong} : day;
  tours_.load(instance_, base_);
  for (PricedOffer& offer : prices.offers) {
    if (offer.obstacle != Obstacle::several) { continue; }
    const RequestWindows windows =
        obstacle == Obstacle::window ? RequestWindows{day, day} : offer.windows;
    if (tours_.cheapest(query_->request(), windows).fits()) { offer.obstacle = obstacle; }
  }
}

/// The most that one search cost more than the best plan that was found for the same question.
Cost OfferPricer::shortfall(const OfferPrices& prices) const {
  Cost most = searched_base_ - base_cost_;
  for (const Found& found : std::span(found_).first(num_searched_)) {
    const auto& offer = *std::ranges::find(prices.offers, found.action, &PricedOffer::action);
    most = std::max(most, found.cost - base_cost_ - offer.added);
  }
  return most;
}

}  // namespace penstock::booking
