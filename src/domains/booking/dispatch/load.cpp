#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/dispatch/parts.h"
#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {
namespace {

/// A route of these stops, its breaks where they fit.
Route route_of(const Problem& problem, std::int32_t vehicle,
               const std::vector<std::int32_t>& stops) {
  Route route = empty_route(problem, vehicle);
  for (const std::int32_t stop : stops) {
    route.visits.insert(route.visits.end() - 1,
                        Visit{.stop = stop, .place = stop_of(problem, stop).place});
  }
  rebuild(problem, route);
  if (!route.feasible && !route.break_after.empty()) { spread_breaks(problem, route); }
  return route;
}

/// What the numbers alone show.
std::optional<std::string> fault_of(const Problem& problem,
                                    std::span<const std::vector<std::int32_t>> routes) {
  if (routes.size() != problem.vehicles.size()) {
    return fmt::format("{} routes for {} vehicles", routes.size(), problem.vehicles.size());
  }
  std::vector<std::int32_t> where(2 * problem.tasks.size(), -1);
  for (std::size_t v = 0; v < routes.size(); ++v) {
    for (const std::int32_t stop : routes[v]) {
      if (stop < 0 || index(stop) >= where.size() || task_of(problem, stop).gone ||
          stop % 2 >= task_of(problem, stop).num_stops()) {
        return fmt::format("no task has stop {}", stop);
      }
      const std::string& id = stop_of(problem, stop).id.text;
      if (where[index(stop)] >= 0) { return fmt::format("{} is visited twice", id); }
      if (!problem.can_serve(problem.vehicles[v], task_of(problem, stop))) {
        return fmt::format("vehicle {} has not the skills of {}", problem.vehicles[v].id.text, id);
      }
      where[index(stop)] = ordinal(v);
      if (stop % 2 == 1 && where[index(stop) - 1] != ordinal(v)) {
        return fmt::format("{} is delivered without its pickup", id);
      }
    }
  }
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    if (problem.tasks[t].is_shipment && (where[2 * t] < 0) != (where[2 * t + 1] < 0)) {
      return fmt::format("{} is not delivered", problem.tasks[t].stops[0].id.text);
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> Schedule::load(std::span<const std::vector<std::int32_t>> stops) {
  if (auto fault = fault_of(problem_, stops)) { return fault; }
  std::vector<Route> routes;
  for (std::size_t v = 0; v < stops.size(); ++v) {
    routes.push_back(route_of(problem_, ordinal(v), stops[v]));
    if (stops[v].empty()) { continue; }
    if (!keeps_promises(problem_, routes.back())) {
      return fmt::format("vehicle {} cannot keep its times or its load",
                         problem_.vehicles[v].id.text);
    }
  }
  routes_ = std::move(routes);
  vehicle_of_.assign(problem_.tasks.size(), -1);
  for (const Route& route : routes_) {
    for (const Visit& visit : route.visits) {
      if (visit.stop >= 0) { vehicle_of_[index(visit.stop) / 2] = route.vehicle; }
    }
  }
  return {};
}

}  // namespace penstock::booking::dispatch
