#include "domains/booking/dispatch/parts.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

Step step_of(const Problem& problem, const Route& route, const Timetable::Row& row) {
  Step step{.arrival = row.arrival, .start = row.start};
  const Visit& visit = route.visits[index(row.visit)];
  if (row.pause >= 0) {
    step.kind = Step::Kind::pause;
    step.id = vehicle_of(problem, route).breaks[index(row.pause)].id;
  } else if (visit.stop < 0) {
    step.kind = row.visit == 0 ? Step::Kind::start : Step::Kind::end;
  } else {
    const bool shipment = task_of(problem, visit.stop).is_shipment;
    const Step::Kind of_shipment = visit.stop % 2 == 0 ? Step::Kind::pickup : Step::Kind::delivery;
    step.kind = shipment ? of_shipment : Step::Kind::job;
    step.id = stop_of(problem, visit.stop).id;
  }
  return step;
}

}  // namespace

ToldSolution told(const Schedule& plan) {
  const Problem& problem = plan.problem();
  ToldSolution solution{.cost = plan.cost()};
  for (const Route& route : plan.routes()) {
    if (route.num_stops() == 0) { continue; }
    ToldRoute one{.vehicle = vehicle_of(problem, route).id};
    const Timetable table = timetable(problem, route);
    for (const Timetable::Row& row : table.rows) {
      one.steps.push_back(step_of(problem, route, row));
    }
    solution.routes.push_back(std::move(one));
  }
  for (const std::int32_t task : plan.unserved()) {
    const Task& left = problem.tasks[index(task)];
    for (std::int32_t k = 0; k < left.num_stops(); ++k) {
      solution.unserved.push_back(left.stops[index(k)].id);
    }
  }
  return solution;
}

}  // namespace penstock::booking::dispatch
