#include "domains/booking/dispatch/plan_table.h"

#include <fmt/format.h>

#include <iterator>

#include "domains/booking/dispatch/parts.h"
#include "penstock/core/base/text.h"

namespace penstock::booking::dispatch {
namespace {

std::string words_of(const Problem& problem, const Route& route, const Timetable::Row& row) {
  const Visit& visit = route.visits[index(row.visit)];
  if (row.pause >= 0) {
    return fmt::format("break {}", vehicle_of(problem, route).breaks[index(row.pause)].id.text);
  }
  if (visit.stop < 0) { return row.visit == 0 ? "start" : "end"; }
  const Task& task = task_of(problem, visit.stop);
  const char* of_shipment = visit.stop % 2 == 0 ? "pickup" : "delivery";
  return fmt::format("{} {}", task.is_shipment ? of_shipment : "job",
                     stop_of(problem, visit.stop).id.text);
}

void put_route(const Problem& problem, const Route& route, std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "vehicle {}: {} stops, {:.1f} km, {} min driving, cost {}\n",
                 printable(vehicle_of(problem, route).id.text), route.num_stops(),
                 static_cast<double>(route.metres) / 1000, (route.seconds + 30) / 60,
                 route.cost / kUnit);
  const Timetable table = timetable(problem, route);
  for (const Timetable::Row& row : table.rows) {
    fmt::format_to(out, "  {}  {}{}\n", problem.told(row.start),
                   printable(words_of(problem, route, row)),
                   row.start > row.arrival
                       ? fmt::format(" (after a wait of {} min)", (row.start - row.arrival) / 60)
                       : "");
  }
}

}  // namespace

std::string plan_table(const Schedule& plan) {
  const Problem& problem = plan.problem();
  std::string text;
  for (const Route& route : plan.routes()) {
    if (route.num_stops() > 0) { put_route(problem, route, text); }
  }
  for (const std::int32_t task : plan.unserved()) {
    text += fmt::format("unserved: {}\n", printable(problem.tasks[index(task)].stops[0].id.text));
  }
  text += fmt::format("cost {}, {} vehicle{}, {:.1f} km, {} unserved\n", plan.cost() / kUnit,
                      plan.vehicles_used(), plan.vehicles_used() == 1 ? "" : "s",
                      static_cast<double>(plan.metres()) / 1000, plan.unserved().size());
  return text;
}

}  // namespace penstock::booking::dispatch
