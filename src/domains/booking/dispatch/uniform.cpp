#include "domains/booking/dispatch/uniform.h"

#include <algorithm>
#include <numeric>

#include "domains/booking/dispatch/index.h"
#include "domains/booking/dispatch/likeness.h"

namespace penstock::booking::dispatch {
namespace {

constexpr Time kLongestDay = 100'000'000;
constexpr Money kDearest = 100'000'000;  // of a leg
constexpr std::size_t kMostRequests = 2'000;

bool is_plain(const Vehicle& vehicle, const Problem& problem) {
  return are_alike(problem, vehicle, problem.vehicles[0]) && vehicle.steps.empty() &&
         vehicle.start >= 0 && problem.same_place(vehicle.start, vehicle.end) &&
         vehicle.fixed == 0 && vehicle.per_task_hour == 0 &&
         vehicle.max_tasks >= ordinal(2 * kMostTasks) && vehicle.max_travel_time >= kForever &&
         vehicle.max_distance >= kForever &&
         vehicle.shift.latest - vehicle.shift.earliest <= kLongestDay;
}

bool is_plain(const Stop& stop) {
  return stop.setup == 0 && stop.setup_by_type.empty() && stop.service_by_type.empty() &&
         stop.windows.size() <= 1;
}

bool is_plain(const Task& task, const Task& first, const Problem& problem) {
  return !task.gone && task.is_shipment == first.is_shipment && task.max_ride == first.max_ride &&
         task.priority == first.priority && (task.is_shipment || task.pickup == Amount{}) &&
         is_plain(task.stops[0]) && (!task.is_shipment || is_plain(task.stops[1])) &&
         problem.can_serve(problem.vehicles[0], task);
}

bool is_plain(const Problem& problem) {
  return !problem.tasks.empty() && problem.tasks.size() <= kMostRequests &&
         problem.num_amounts <= 1 &&
         std::all_of(problem.vehicles.begin(), problem.vehicles.end(),
                     [&](const Vehicle& one) { return is_plain(one, problem); }) &&
         std::all_of(problem.tasks.begin(), problem.tasks.end(),
                     [&](const Task& one) { return is_plain(one, problem.tasks[0], problem); });
}

/// A stop's node; times count from the begin of the shift.
Node node_of(const Stop& stop, const TimeWindow& shift) {
  TimeWindow window = shift;
  if (!stop.windows.empty()) {
    window.earliest = std::max(window.earliest, stop.windows[0].earliest);
    window.latest = std::min(window.latest, stop.windows[0].latest);
  }
  const Time earliest = window.earliest - shift.earliest;
  const Time latest = std::max<Time>(-1, window.latest - shift.earliest);
  Node node{.service = stop.service};
  node.window.earliest = earliest;
  node.window.latest = latest;
  return node;
}

/// Distances are costs, in the largest unit that tells them apart, or nearly.
void fill_ways(const Problem& problem, const std::vector<std::int32_t>& places,
               Instance& instance) {
  const Vehicle& vehicle = problem.vehicles[0];
  std::vector<Money> costs;
  Money unit = 0;
  Money most = 1;
  for (const std::int32_t from : places) {
    for (const std::int32_t to : places) {
      const Leg leg = problem.leg(vehicle, from, to);
      costs.push_back(problem.cost(vehicle, leg));
      instance.duration.push_back(leg.seconds);
      unit = std::gcd(unit, costs.back());
      most = std::max(most, costs.back());
    }
  }
  unit = std::max({unit, most / kDearest, Money{1}});
  for (const Money cost : costs) { instance.distance.push_back((cost + unit / 2) / unit); }
}

}  // namespace

std::vector<std::vector<std::int32_t>> Uniform::stops_of(const Plan& plan) const {
  std::vector<std::vector<std::int32_t>> stops;
  for (const auto& route : plan.routes) {
    std::vector<std::int32_t>& list = stops.emplace_back();
    for (const std::int32_t node : route) {
      const std::int32_t request = instance.request_of(node);
      list.push_back(2 * tasks[index(request)] + node - instance.first_node(request));
    }
  }
  return stops;
}

std::optional<Uniform> as_uniform(const Problem& problem) {
  if (!is_plain(problem)) { return {}; }
  const Vehicle& vehicle = problem.vehicles[0];
  const Task& first = problem.tasks[0];
  Uniform same;
  Instance& instance = same.instance;
  instance.mode = first.is_shipment ? Mode::ride : Mode::deliver;
  instance.vehicles = ordinal(problem.vehicles.size());
  instance.capacity = vehicle.capacity[0];
  instance.max_ride = first.max_ride;
  instance.nodes.push_back(node_of({}, vehicle.shift));
  std::vector<std::int32_t> places = {vehicle.start};
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const Task& task = problem.tasks[t];
    same.tasks.push_back(ordinal(t));
    for (std::int32_t k = 0; k < task.num_stops(); ++k) {
      Node node = node_of(task.stops[index(k)], vehicle.shift);
      if (node.window.latest < node.window.earliest) { return {}; }
      node.load = task.is_shipment ? (k == 0 ? task.pickup[0] : -task.pickup[0]) : task.delivery[0];
      instance.nodes.push_back(node);
      places.push_back(task.stops[index(k)].place);
    }
  }
  fill_ways(problem, places, instance);
  return same;
}

}  // namespace penstock::booking::dispatch
