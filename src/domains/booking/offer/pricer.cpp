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
    changed.push_back({static_cast<std::int32_t>(v), plan.routes[v]});
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
    return std::tuple(!offer.fits, offer.added, offer.fits ? offered_minutes(offer.action) : 0,
                      offer.action);
  };
  return rank(a) < rank(b);
}

}  // namespace

OfferPrices OfferPricer::price(const OfferQuery& query) {
  OfferPrices prices;
  prices.offers = distinct_offers(query);
  found_.clear();
  base_ = query.plan;
  base_cost_ = cost_of(query.instance, base_);
  if (oracle_) { search(query, prices); }
  num_searched_ = found_.size();
  prices.base = base_cost_;
  insert(query, prices);
  for (PricedOffer& offer : prices.offers) { choose(query, offer); }
  if (oracle_) { prices.error = shortfall(prices); }
  std::sort(prices.offers.begin(), prices.offers.end(), ranks_before);
  return prices;
}

/// Plans the base anew, then every offer from there, each search with a seed of its own: what one
/// finds serves all.
void OfferPricer::search(const OfferQuery& query, const OfferPrices& prices) {
  instance_ = query.instance;
  served_.resize(query.request());
  std::iota(served_.begin(), served_.end(), 0);
  const Instance& wished = query.instance;
  if (!served_.empty()) {
    Plan plan = query.plan;
    RoutingProblem problem{.instance = &wished,
                           .served = served_,
                           .request = RoutingProblem::kNoRequest,
                           .seed = kOffers,
                           .plan = &plan};
    oracle_->solve({&problem, 1});
    plan.routes.resize(query.plan.routes.size());
    take_base(std::move(plan), problem.cost);
  }
  searched_base_ = base_cost_;
  const Plan start = base_;
  for (const PricedOffer& offer : prices.offers) {
    promise(instance_, query.request(), offer.windows);
    Plan plan = start;
    RoutingProblem problem{.instance = &instance_,
                           .served = served_,
                           .request = query.request(),
                           .seed = static_cast<std::uint64_t>(offer.action),
                           .plan = &plan};
    oracle_->solve({&problem, 1});
    if (!problem.fits) { continue; }
    plan.routes.resize(query.plan.routes.size());
    leave_out(query, plan);
    found_.push_back({changes(query.plan, plan), problem.cost, offer.action, offer.windows});
  }
}

/// A plan of the others that costs less becomes the base.
void OfferPricer::take_base(Plan plan, Cost cost) {
  if (cost >= base_cost_) { return; }
  base_ = std::move(plan);
  base_cost_ = cost;
}

/// What a plan is without the new request is a plan of the others.
void OfferPricer::leave_out(const OfferQuery& query, const Plan& plan) {
  Plan rest = plan;
  const std::int32_t first = query.instance.first_node(query.request());
  for (auto& route : rest.routes) {
    // Without the triangle inequality, whoever leaves somebody out may come late.
    if (std::erase_if(route, [&](std::int32_t node) { return node >= first; }) > 0 &&
        !keeps_promises(query.instance, route)) {
      return;
    }
  }
  const Cost cost = cost_of(query.instance, rest);
  take_base(std::move(rest), cost);
}

/// The cheapest places in the base, which the searches may have missed.
void OfferPricer::insert(const OfferQuery& query, const OfferPrices& prices) {
  tours_.load(query.instance, base_);
  const std::vector<ChangedRoute> before = changes(query.plan, base_);
  const std::int32_t first = query.instance.first_node(query.request());
  for (const PricedOffer& offer : prices.offers) {
    const Insertion place = tours_.cheapest(query.request(), offer.windows);
    if (!place.fits()) { continue; }
    std::vector<ChangedRoute> routes = before;
    std::erase_if(routes,
                  [&](const ChangedRoute& route) { return route.vehicle == place.vehicle; });
    routes.push_back(
        {place.vehicle, with(base_.routes[place.vehicle], place, first, query.instance.mode)});
    found_.push_back({std::move(routes), base_cost_ + place.added, offer.action, offer.windows});
  }
}

/// Whether a plan keeps the windows that the instance now holds for the request: its other routes
/// do in any case.
bool OfferPricer::keeps(const Found& found, std::int32_t first_node) const {
  const auto route = std::find_if(found.routes.begin(), found.routes.end(), [&](const auto& one) {
    return std::find(one.nodes.begin(), one.nodes.end(), first_node) != one.nodes.end();
  });
  return keeps_promises(instance_, route->nodes);
}

/// The cheapest plan of all that were found and keep the offer's windows. An offer that contains
/// another has all of its plans, and so costs no more.
void OfferPricer::choose(const OfferQuery& query, PricedOffer& offer) {
  const Found* best = nullptr;
  const std::int32_t first = query.instance.first_node(query.request());
  if (oracle_) { promise(instance_, query.request(), offer.windows); }
  for (const Found& found : found_) {
    if (best != nullptr && found.cost >= best->cost) { continue; }
    // The cheapest place of all needs no other offer's.
    if (!oracle_ && found.action != offer.action) { continue; }
    if (contains(offer.windows, found.windows) || keeps(found, first)) { best = &found; }
  }
  if (best == nullptr) { return; }
  offer.fits = true;
  offer.added = best->cost - base_cost_;
  offer.routes = best->routes;
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
