#include "penstock/domains/booking/routing/route_set.h"

#include <algorithm>

#include "domains/booking/routing/index.h"
#include "domains/booking/routing/insertion.h"

namespace penstock::booking {
namespace {

constexpr std::size_t kMostRoom = 256;

}  // namespace

void RouteSet::clear(const Instance& instance) {
  instance_ = &instance;
  stride_ = instance.num_nodes();
  num_vehicles_ = instance.vehicles;
  if (routes_.size() < index(num_vehicles_)) {
    routes_.resize(index(num_vehicles_));
    saved_.resize(index(num_vehicles_));
    changed_.reserve(index(num_vehicles_));
  }
  const Window day = instance.nodes[0].window;
  const Stop depot{.node = 0, .load = 0, .leave = day.earliest, .latest = day.latest};
  // Room for the longest route of a small day, so that no later one asks for more.
  const std::size_t room = std::min(instance.num_nodes() + 1, kMostRoom);
  for (Route& route : routes_) {
    route.stops.reserve(room);
    route.stops.assign(2, depot);
    route.saved = false;
  }
  for (auto& stops : saved_) { stops.reserve(room); }
  vehicle_of_.assign(index(instance.num_requests()), -1);
  changed_.clear();
  marked_ = false;
  cost_ = 0;
}

void RouteSet::load(const Instance& instance, const Plan& plan) {
  clear(instance);
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    const auto& nodes = plan.routes[v];
    if (nodes.empty()) { continue; }
    auto& stops = routes_[v].stops;
    const Stop end = stops.back();
    stops.resize(1);
    std::int32_t from = 0;
    for (const std::int32_t node : nodes) {
      stops.push_back({.node = node});
      vehicle_of_[index(instance.request_of(node))] = v;
      cost_ += instance.distance[at(from, node)];
      from = node;
    }
    cost_ += instance.distance[at(from, 0)];
    stops.push_back(end);
    forward(stops, 1);
    backward(stops, stops.size() - 2);
  }
}

void RouteSet::store(Plan& plan) const {
  plan.routes.resize(index(num_vehicles_));
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    const auto& stops = routes_[v].stops;
    plan.routes[v].clear();
    for (std::size_t i = 1; i + 1 < stops.size(); ++i) { plan.routes[v].push_back(stops[i].node); }
  }
}

RequestWindows RouteSet::windows_of(std::int32_t request) const {
  const std::size_t node = index(instance_->first_node(request));
  const std::size_t last = instance_->mode == Mode::ride ? node + 1 : node;
  return {instance_->nodes[node].window, instance_->nodes[last].window};
}

RouteSet::Visit RouteSet::visit(std::int32_t node, Window window) const {
  const Node& is = instance_->nodes[index(node)];
  return {.node = node, .load = is.load, .service = is.service, .window = window};
}

Insertion RouteSet::cheapest(std::int32_t request) const {
  return cheapest(request, windows_of(request));
}

Insertion RouteSet::cheapest_below(std::int32_t request, Cost below) const {
  SkipNothing nothing;
  return cheapest(request, windows_of(request), nothing, below);
}

Insertion RouteSet::cheapest(std::int32_t request, const RequestWindows& windows) const {
  SkipNothing nothing;
  return cheapest(request, windows, nothing);
}

// Every stop keeps the earliest time it can be left and the latest time it may begin, so cheapest()
// tells in constant time whether a place is in time: it looks at the two stops beside the gap, not
// at the rest of the route. The price is paid here: what follows a change is gone over forwards,
// what precedes it backwards. Insertions are priced far more often than they are made.
void RouteSet::insert(std::int32_t request, const Insertion& at) {
  save(at.vehicle);
  auto& stops = routes_[index(at.vehicle)].stops;
  const std::int32_t node = instance_->first_node(request);
  std::size_t last = index(at.first) + 1;
  if (instance_->mode == Mode::ride) {
    stops.insert(stops.begin() + 1 + at.second, Stop{.node = node + 1});
    last = index(at.second) + 2;
  }
  stops.insert(stops.begin() + 1 + at.first, Stop{.node = node});
  forward(stops, index(at.first) + 1);
  backward(stops, last);
  vehicle_of_[index(request)] = at.vehicle;
  cost_ += at.added;
}

Insertion RouteSet::remove(std::int32_t request) {
  const std::int32_t vehicle = vehicle_of(request);
  save(vehicle);
  auto& stops = routes_[index(vehicle)].stops;
  const std::int32_t node = instance_->first_node(request);
  const auto take = [&](std::int32_t which, std::size_t from) {
    std::size_t i = from;
    while (stops[i].node != which) { ++i; }
    const std::int32_t left = stops[i - 1].node;
    const std::int32_t right = stops[i + 1].node;
    const Cost direct = stops.size() == 3 ? 0 : instance_->distance[this->at(left, right)];
    cost_ += direct - instance_->distance[this->at(left, which)] -
             instance_->distance[this->at(which, right)];
    stops.erase(stops.begin() + i);
    return i;
  };
  const Cost before = cost_;
  const std::size_t first = take(node, 1);
  const std::size_t second = instance_->mode == Mode::ride ? take(node + 1, first) : first;
  forward(stops, first);
  backward(stops, second - 1);
  vehicle_of_[index(request)] = -1;
  return {before - cost_, vehicle, static_cast<std::int32_t>(first - 1),
          static_cast<std::int32_t>(second - 1)};
}

void RouteSet::remove_all(std::span<const std::int32_t> requests) {
  touched_.clear();
  for (const std::int32_t request : requests) {
    const std::int32_t vehicle = vehicle_of(request);
    if (std::find(touched_.begin(), touched_.end(), vehicle) == touched_.end()) {
      touched_.push_back(vehicle);
    }
    vehicle_of_[index(request)] = -1;
  }
  for (const std::int32_t vehicle : touched_) { close_gaps(vehicle); }
}

/// Drops the stops whose requests are said to be served by nobody.
///
/// One pass: stops that stay move up over those that go, and the cost follows edge by edge.
/// Removing the requests one at a time would go over the route once for each. Stops before the
/// first gap keep their earliest times, stops after the last one their latest times, so forward()
/// and backward() start at the gaps.
void RouteSet::close_gaps(std::int32_t vehicle) {
  save(vehicle);
  auto& stops = routes_[index(vehicle)].stops;
  const Metres* distance = instance_->distance.data();
  std::size_t kept = 0;
  std::size_t first = 0;  // where something was dropped
  std::size_t last = 0;   // the stop before the last gap
  std::int32_t old = 0;   // the stop before, in the route as it was
  for (std::size_t i = 1; i < stops.size(); ++i) {
    const std::int32_t node = stops[i].node;
    cost_ -= distance[at(old, node)];
    old = node;
    if (node != 0 && vehicle_of(instance_->request_of(node)) < 0) {
      if (first == 0) { first = kept + 1; }
      last = kept;
      continue;
    }
    cost_ += distance[at(stops[kept].node, node)];
    stops[++kept] = stops[i];
  }
  stops.resize(kept + 1);
  if (kept == 1) { cost_ -= distance[at(0, 0)]; }  // an empty route costs nothing
  forward(stops, first);
  backward(stops, last);
}

void RouteSet::drop_vehicle(std::int32_t vehicle) {
  const std::int32_t last = num_vehicles_ - 1;
  auto& stops = routes_[index(vehicle)].stops;
  stops.swap(routes_[index(last)].stops);
  for (std::size_t i = 1; i + 1 < stops.size(); ++i) {
    vehicle_of_[index(instance_->request_of(stops[i].node))] = vehicle;
  }
  num_vehicles_ = last;
  mark();
}

void RouteSet::forward(std::vector<Stop>& stops, std::size_t from) const {
  const Seconds* duration = instance_->duration.data();
  const Stop* previous = &stops[from - 1];
  for (std::size_t i = from; i < stops.size(); ++i) {
    Stop& stop = stops[i];
    const Node& node = instance_->nodes[index(stop.node)];
    const Seconds arrival = previous->leave + duration[at(previous->node, stop.node)];
    stop.leave = std::max(arrival, node.window.earliest) + node.service;
    stop.load = previous->load + node.load;
    previous = &stop;
  }
}

void RouteSet::backward(std::vector<Stop>& stops, std::size_t from) const {
  const Seconds* duration = instance_->duration.data();
  const Stop* next = &stops[from + 1];
  for (std::size_t i = from; i > 0; --i) {
    Stop& stop = stops[i];
    const Node& node = instance_->nodes[index(stop.node)];
    stop.latest = std::min(node.window.latest,
                           next->latest - duration[at(stop.node, next->node)] - node.service);
    next = &stop;
  }
}

bool RouteSet::is_feasible(std::int32_t vehicle) const {
  const auto& stops = routes_[index(vehicle)].stops;
  for (std::size_t i = 1; i < stops.size(); ++i) {
    const Node& node = instance_->nodes[index(stops[i].node)];
    if (stops[i].leave - node.service > stops[i].latest) { return false; }
  }
  if (instance_->max_ride == 0) { return true; }
  sequence_.clear();
  for (std::size_t i = 1; i < stops.size(); ++i) {
    append(visit(stops[i].node, instance_->nodes[index(stops[i].node)].window));
  }
  return rides_hold();
}

void RouteSet::append(const Visit& visit) const { sequence_.push_back(visit); }

bool RouteSet::rides_hold(std::int32_t vehicle, const Visit& pickup, const Visit& drop,
                          const Insertion& at) const {
  const auto& stops = routes_[index(vehicle)].stops;
  sequence_.clear();
  for (std::size_t i = 1; i < stops.size(); ++i) {
    if (i == index(at.first) + 1) { append(pickup); }
    if (i == index(at.second) + 1) { append(drop); }
    append(visit(stops[i].node, instance_->nodes[index(stops[i].node)].window));
  }
  return rides_hold();
}

// Starts are the least that satisfy "not before" and "not more than max_ride after": a pickup that
// is too early for its drop-off is put off and what follows it is moved, until nothing moves. Every
// pass settles one pickup more, or the demands chase each other for ever.
bool RouteSet::rides_hold() const {
  start_.resize(sequence_.size());
  const std::size_t passes = sequence_.size() / 2 + 2;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    Seconds leave = instance_->nodes[0].window.earliest;
    std::int32_t from = 0;
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
      const Visit& stop = sequence_[i];
      const Seconds arrival = leave + instance_->duration[at(from, stop.node)];
      start_[i] = std::max(arrival, stop.window.earliest);
      if (start_[i] > stop.window.latest) { return false; }
      leave = start_[i] + stop.service;
      from = stop.node;
    }
    bool settled = true;
    for (std::size_t i = 0; i < sequence_.size(); ++i) {
      const std::int32_t node = sequence_[i].node;
      if (node == 0 || node % 2 != 0) { continue; }  // drop-offs are even
      std::size_t up = i;
      while (sequence_[up].node != node - 1) { --up; }
      const Seconds least = start_[i] - instance_->max_ride - sequence_[up].service;
      if (start_[up] >= least) { continue; }
      sequence_[up].window.earliest = least;
      settled = false;
    }
    if (settled) { return true; }
  }
  return false;
}

void RouteSet::mark() {
  for (const std::int32_t vehicle : changed_) { routes_[index(vehicle)].saved = false; }
  changed_.clear();
  saved_cost_ = cost_;
  marked_ = true;
}

// Routes are copied before their first change after mark(), not at mark(): a round of a search
// touches a few of them, whatever the size of the fleet. Undoing is swapping them back.
void RouteSet::save(std::int32_t vehicle) {
  Route& route = routes_[index(vehicle)];
  if (!marked_ || route.saved) { return; }
  saved_[index(vehicle)] = route.stops;
  route.saved = true;
  changed_.push_back(vehicle);
}

void RouteSet::rollback() {
  const auto say = [&](const std::vector<Stop>& stops, std::int32_t vehicle) {
    for (std::size_t i = 1; i + 1 < stops.size(); ++i) {
      vehicle_of_[index(instance_->request_of(stops[i].node))] = vehicle;
    }
  };
  for (const std::int32_t vehicle : changed_) { say(routes_[index(vehicle)].stops, -1); }
  for (const std::int32_t vehicle : changed_) {
    Route& route = routes_[index(vehicle)];
    route.stops.swap(saved_[index(vehicle)]);
    route.saved = false;
    say(route.stops, vehicle);
  }
  changed_.clear();
  cost_ = saved_cost_;
}

}  // namespace penstock::booking
