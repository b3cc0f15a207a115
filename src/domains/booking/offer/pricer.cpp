#include <algorithm>
#include <numeric>
#include <tuple>

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

}  // namespace

PricedOffer OfferPricer::insert(const OfferQuery& query, std::int32_t action) {
  PricedOffer offer{.action = action};
  offer.windows = offered_windows(query.instance, query.request(), query.kind, action);
  const Insertion place = tours_.cheapest(query.request(), offer.windows);
  if (!place.fits()) { return offer; }
  offer.fits = true;
  offer.added = place.added;
  offer.routes.push_back(
      {place.vehicle, with(query.plan.routes[place.vehicle], place,
                           query.instance.first_node(query.request()), query.instance.mode)});
  return offer;
}

PricedOffer OfferPricer::search(const OfferQuery& query, std::int32_t action) {
  PricedOffer offer{.action = action};
  offer.windows = offered_windows(query.instance, query.request(), query.kind, action);
  promise(instance_, query.request(), offer.windows);
  Plan plan = query.plan;
  RoutingProblem problem{.instance = &instance_,
                         .served = served_,
                         .request = query.request(),
                         .seed = 0,  // the same search for every offer
                         .plan = &plan};
  oracle_->solve({&problem, 1});
  if (!problem.fits) { return offer; }
  offer.fits = true;
  offer.added = problem.cost - cost_of(query.instance, query.plan);
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    if (v < query.plan.routes.size() && plan.routes[v] == query.plan.routes[v]) { continue; }
    offer.routes.push_back({static_cast<std::int32_t>(v), std::move(plan.routes[v])});
  }
  return offer;
}

std::vector<PricedOffer> OfferPricer::price(const OfferQuery& query) {
  if (oracle_) {
    instance_ = query.instance;
    served_.resize(query.request());
    std::iota(served_.begin(), served_.end(), 0);
  } else {
    tours_.load(query.instance, query.plan);
  }
  std::vector<PricedOffer> offers;
  offers.reserve(kOffers);
  for (std::int32_t action = 0; action < kOffers; ++action) {
    offers.push_back(oracle_ ? search(query, action) : insert(query, action));
  }
  const auto rank = [](const PricedOffer& offer) {
    return std::tuple(!offer.fits, offer.added, offer.fits ? offered_minutes(offer.action) : 0,
                      offer.action);
  };
  std::sort(offers.begin(), offers.end(),
            [&](const PricedOffer& a, const PricedOffer& b) { return rank(a) < rank(b); });
  return offers;
}

std::vector<Seconds> starts_of(const Instance& instance, std::span<const Node> nodes,
                               std::span<const std::int32_t> route) {
  std::vector<Seconds> starts(route.size());
  const auto node_at = [&](std::size_t i) -> const Node& { return nodes[route[i]]; };
  for (std::size_t i = 0; i < route.size(); ++i) { starts[i] = node_at(i).window.earliest; }
  bool moved = true;
  const auto at_least = [&](std::size_t i, Seconds start) {
    moved = moved || start > starts[i];
    starts[i] = std::max(starts[i], start);
  };
  // Starts only rise; when no ride is too long any more, they are the earliest that keep
  // everything. A feasible route settles within as many rounds as it has stops.
  for (std::size_t round = 0; moved && round <= route.size(); ++round) {
    moved = false;
    for (std::size_t i = 0; i < route.size(); ++i) {
      const Seconds leave =
          i == 0 ? nodes[0].window.earliest : starts[i - 1] + node_at(i - 1).service;
      at_least(i, leave + instance.duration_of(i == 0 ? 0 : route[i - 1], route[i]));
    }
    if (instance.max_ride == 0 || instance.mode != Mode::ride) { break; }
    for (std::size_t i = 0; i < route.size(); ++i) {
      if (route[i] % 2 == 1) {
        const std::size_t drop =
            std::find(route.begin(), route.end(), route[i] + 1) - route.begin();
        at_least(i, starts[drop] - instance.max_ride - node_at(i).service);
      }
    }
  }
  return starts;
}

}  // namespace penstock::booking
