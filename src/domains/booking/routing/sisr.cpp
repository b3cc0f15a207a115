#include "domains/booking/routing/sisr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "domains/booking/routing/index.h"
#include "domains/booking/routing/insertion.h"
#include "penstock/domains/booking/routing/blink.h"

namespace penstock::booking {
namespace {

// The paper's sizes find room for what is absent soonest; to shorten, strings twice as long: routes
// of fifty stops are not taken apart ten at a time. bench/reports/2026-11-15-routing-sets.md has
// the trials.
constexpr StringSizes kToServe{.longest = 10, .mean_removed = 10};
constexpr StringSizes kToShorten{.longest = 20, .mean_removed = 15};

/// The rules by which requests are put back.
enum OrderRule : std::uint32_t { kRandom, kLoad, kFar, kNear, kNarrow, kEarly, kLate };

}  // namespace

Chain::Chain(const Instance& instance, std::uint64_t seed)
    : instance_(instance),
      strings_(instance),
      random_(seed),
      until_blink_(100),
      absences_(index(instance.num_requests()), 1),
      best_cost_(Insertion::kNowhere),
      unserved_(instance.num_requests() + 1) {
  routes_.clear(instance);
  routes_.mark();
  removed_.resize(index(instance.num_requests()));
  std::iota(removed_.begin(), removed_.end(), 0);
  order();
  recreate();
  absent_ = still_absent_;
  send_spares_home();
  keep_best();
}

/// Vehicles that will hardly be needed only cost a look at each; some are kept for breadth.
void Chain::send_spares_home() {
  std::int32_t used = 0;
  for (std::int32_t v = 0; v < routes_.num_vehicles(); ++v) { used += routes_.is_empty(v) ? 0 : 1; }
  for (std::int32_t v = routes_.num_vehicles() - 1; v >= 0; --v) {
    if (routes_.num_vehicles() > used + used / 4 + 2 && routes_.is_empty(v)) {
      routes_.drop_vehicle(v);
    }
  }
}

double Chain::cost_per_stop() const {
  return std::max<Cost>(1, best_cost_) / std::max<double>(1, instance_.num_nodes() - 1.0);
}

void Chain::anneal(Budget& budget, double hot, double cold) {
  const double unit = cost_per_stop();
  const double begin = budget.spent();
  while (budget.step()) {
    const double done = (budget.spent() - begin) / std::max(1e-9, 1 - begin);
    const double temperature = unit * hot * std::pow(cold / hot, done);
    if (absent_.empty()) {
      shorten(temperature);
    } else {
      serve_more(temperature);
    }
  }
}

void Chain::reduce_fleet(Budget& budget) {
  const double temperature = cost_per_stop();
  const std::int32_t least = least_vehicles();
  while (budget.step()) {
    if (!absent_.empty()) {
      serve_more(temperature);
    } else if (routes_.num_vehicles() > least) {
      disband(easiest_route());
    } else {
      break;
    }
  }
  const auto used = std::count_if(best_.routes.begin(), best_.routes.end(),
                                  [](const auto& route) { return !route.empty(); });
  restore_best(used);
}

/// As few as the loads allow.
std::int32_t Chain::least_vehicles() const {
  if (instance_.mode == Mode::ride) { return 1; }
  std::int64_t load = 0;
  for (const Node& node : instance_.nodes) { load += node.load; }
  const std::int64_t capacity = std::max(1, instance_.capacity);
  return std::max<std::int64_t>(1, (load + capacity - 1) / capacity);
}

/// Sends a vehicle home; its requests become absent.
void Chain::disband(std::int32_t vehicle) {
  for (const Stop& stop : routes_.stops(vehicle)) {
    const bool last_of_request =
        instance_.mode == Mode::deliver || stop.node % 2 == 0;  // a drop-off, or the depot
    if (stop.node != 0 && last_of_request) { absent_.push_back(instance_.request_of(stop.node)); }
  }
  if (!absent_.empty()) { routes_.remove_all(absent_); }
  routes_.drop_vehicle(vehicle);
  keep_best();
}

/// An empty one, or the one whose requests have been absent the least.
std::int32_t Chain::easiest_route() const {
  std::int32_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::int32_t v = 0; v < routes_.num_vehicles(); ++v) {
    std::int64_t sum = 0;
    for (const Stop& stop : routes_.stops(v)) {
      if (stop.node != 0) { sum += absences_[index(instance_.request_of(stop.node))]; }
    }
    if (sum < least) {
      least = sum;
      best = v;
    }
  }
  return best;
}

void Chain::restore_best(std::int32_t vehicles) {
  routes_.load(instance_, best_);
  absent_.clear();
  for (std::int32_t r = 0; r < instance_.num_requests(); ++r) {
    if (routes_.vehicle_of(r) < 0) { absent_.push_back(r); }
  }
  for (std::int32_t v = routes_.num_vehicles() - 1; v >= 0; --v) {
    if (routes_.num_vehicles() > std::max(1, vehicles) && routes_.is_empty(v)) {
      routes_.drop_vehicle(v);
    }
  }
  routes_.store(best_);  // with as many routes as there are vehicles now
}

/// Whether the routes are still in time without what was taken out, and can be built upon.
bool Chain::ruin(const StringSizes& sizes) {
  strings_.pick(routes_, sizes, random_, removed_);
  routes_.mark();
  routes_.remove_all(removed_);
  removed_.insert(removed_.end(), absent_.begin(), absent_.end());
  order();
  still_absent_.clear();
  return std::all_of(routes_.changed().begin(), routes_.changed().end(),
                     [&](std::int32_t vehicle) { return routes_.is_feasible(vehicle); });
}

/// A round of a plan that serves all and will go on to. What may be accepted is drawn before it, so
/// that a round that fails ends early: a plan that costs too much hardly gets cheaper by what
/// follows.
void Chain::shorten(double temperature) {
  const double most = most_accepted(temperature);
  const auto goes_well = [&](std::int32_t request) {
    return put_back(request) && routes_.cost() < most;
  };
  if (ruin(kToShorten) && std::all_of(removed_.begin(), removed_.end(), goes_well)) {
    accept();
  } else {
    routes_.rollback();
  }
}

/// A round of a plan that leaves requests out: their weight counts, then the cost.
void Chain::serve_more(double temperature) {
  const double most = most_accepted(temperature);
  if (!ruin(kToServe)) {
    routes_.rollback();
    return;
  }
  recreate();
  const std::int64_t more = weight(still_absent_) - weight(absent_);
  for (const std::int32_t request : still_absent_) { ++absences_[index(request)]; }
  const bool cheap = routes_.cost() < most;
  if (still_absent_.empty() || more < 0 || (more == 0 && cheap)) {
    accept();
  } else {
    routes_.rollback();
  }
}

/// The routes are the new plan already; what is left is who is absent from it.
void Chain::accept() {
  absent_.swap(still_absent_);
  keep_best();
}

void Chain::recreate() {
  for (const std::int32_t request : removed_) {
    if (!put_back(request)) { still_absent_.push_back(request); }
  }
}

/// False when it fits nowhere.
bool Chain::put_back(std::int32_t request) {
  Blink blink{random_, until_blink_};
  const Insertion place = routes_.cheapest(request, routes_.windows_of(request), blink);
  if (place.fits()) { routes_.insert(request, place); }
  return place.fits();
}

void Chain::order() {
  // As often as the paper draws them.
  constexpr std::array<std::uint32_t, 17> kDraw = {
      kRandom, kRandom, kRandom, kRandom, kLoad,  kLoad,  kLoad, kLoad, kFar,
      kFar,    kNear,   kNarrow, kNarrow, kEarly, kEarly, kLate, kLate};
  const std::uint32_t rule = kDraw[random_.below(kDraw.size())];
  sorted_.clear();
  for (const std::int32_t request : removed_) {
    sorted_.emplace_back(order_key(rule, request), request);
  }
  std::sort(sorted_.begin(), sorted_.end());
  for (std::size_t i = 0; i < sorted_.size(); ++i) { removed_[i] = sorted_[i].second; }
}

Cost Chain::order_key(std::uint32_t rule, std::int32_t request) {
  const std::int32_t first = instance_.first_node(request);
  const Node& node = instance_.nodes[index(first)];
  switch (rule) {
    case kLoad:
      return -Cost{node.load};
    case kFar:
      return -Cost{instance_.distance_of(0, first)};
    case kNear:
      return instance_.distance_of(0, first);
    case kNarrow:
      return Cost{node.window.latest} - node.window.earliest;
    case kEarly:
      return node.window.earliest;
    case kLate:
      return -Cost{node.window.latest};
    default:
      return random_.next();
  }
}

/// What a new plan must stay below: the cost as it is and a rise drawn by the rule of Metropolis.
double Chain::most_accepted(double temperature) {
  return routes_.cost() - temperature * std::log1p(-random_.uniform());
}

std::int64_t Chain::weight(const std::vector<std::int32_t>& absent) const {
  std::int64_t sum = 0;
  for (const std::int32_t request : absent) { sum += absences_[index(request)]; }
  return sum;
}

void Chain::keep_best() {
  const std::int32_t absent = absent_.size();
  // With a vehicle less the cost may rise: a plan of a smaller fleet is kept whatever it costs.
  const bool smaller = absent == 0 && index(routes_.num_vehicles()) < best_.routes.size();
  const bool better = std::pair(absent, routes_.cost()) < std::pair(unserved_, best_cost_);
  if (!smaller && !better) { return; }
  routes_.store(best_);
  best_cost_ = routes_.cost();
  unserved_ = absent;
}

}  // namespace penstock::booking
