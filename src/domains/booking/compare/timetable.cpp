#include "domains/booking/compare/timetable.h"

#include <algorithm>

namespace penstock::booking::detail {
namespace {

Timetable timetable(const Instance& instance, const std::vector<std::int32_t>& route) {
  Timetable table;
  Seconds time = instance.nodes[0].window.earliest;
  std::int32_t at = 0;
  for (const std::int32_t next : route) {
    const Node& node = instance.nodes[next];
    Visit visit{.node = next, .arrival = time + instance.duration_of(at, next)};
    visit.start = std::max(visit.arrival, node.window.earliest);
    visit.end = visit.start + node.service;
    table.cost += instance.distance_of(at, next);
    table.visits.push_back(visit);
    time = visit.end;
    at = next;
  }
  Visit& first = table.visits.front();
  first.arrival = first.start;
  table.leaves = first.start - instance.duration_of(0, first.node);
  table.returns = time + instance.duration_of(at, 0);
  table.cost += instance.distance_of(at, 0);
  return table;
}

}  // namespace

std::vector<Timetable> timetables(const Instance& instance, const Plan& plan) {
  std::vector<Timetable> tables;
  for (std::size_t v = 0; v < plan.routes.size(); ++v) {
    if (plan.routes[v].empty()) { continue; }
    tables.push_back(timetable(instance, plan.routes[v]));
    tables.back().vehicle = v;
  }
  return tables;
}

}  // namespace penstock::booking::detail
