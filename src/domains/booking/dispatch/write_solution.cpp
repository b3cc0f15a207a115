#include <algorithm>
#include <array>

#include "domains/booking/dispatch/write_fields.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

OrderedJson amounts_json(const Problem& problem, std::span<const std::int64_t> amounts) {
  OrderedJson list = OrderedJson::array();
  for (std::int32_t d = 0; d < problem.num_amounts; ++d) { list.push_back(amounts[index(d)]); }
  return list;
}

const char* type_of(const Problem& problem, const Visit& visit) {
  if (!task_of(problem, visit.stop).is_shipment) { return "job"; }
  return visit.stop % 2 == 0 ? "pickup" : "delivery";
}

/// What a route, or all, add up to.
struct Sums {
  Money cost = 0;
  std::int64_t setup = 0;
  std::int64_t service = 0;
  std::int64_t driving = 0;
  std::int64_t waiting = 0;
  std::int64_t metres = 0;
  std::int64_t priority = 0;
  Money revenue = 0;
  std::array<std::int64_t, kMostAmounts> delivery{};
  std::array<std::int64_t, kMostAmounts> pickup{};

  void add(const Sums& other) {
    cost += other.cost;
    setup += other.setup;
    service += other.service;
    driving += other.driving;
    waiting += other.waiting;
    metres += other.metres;
    priority += other.priority;
    revenue += other.revenue;
    for (std::size_t d = 0; d < kMostAmounts; ++d) {
      delivery[d] += other.delivery[d];
      pickup[d] += other.pickup[d];
    }
  }

  void add(const Task& task, bool second) {
    for (std::size_t d = 0; d < kMostAmounts; ++d) {
      if (!task.is_shipment) { delivery[d] += task.delivery[d]; }
      if (!second) { pickup[d] += task.pickup[d]; }
      if (second) { delivery[d] += task.pickup[d]; }
    }
    if (second) { return; }
    priority += task.priority;
    revenue += task.revenue;
  }

  void put(const Problem& problem, OrderedJson& object) const {
    object["delivery"] = amounts_json(problem, delivery);
    object["pickup"] = amounts_json(problem, pickup);
    object["setup"] = setup;
    object["service"] = service;
    object["duration"] = driving;
    object["waiting_time"] = waiting;
    object["distance"] = metres;
    object["priority"] = priority;
    if (revenue > 0) { object["revenue"] = revenue / kUnit; }
  }
};

/// One route, written step by step.
class RouteWriter {
 public:
  RouteWriter(const Problem& problem, const Route& route)
      : problem_(problem), route_(route), vehicle_(vehicle_of(problem, route)) {}

  OrderedJson write() {
    const Timetable table = timetable(problem_, route_);
    OrderedJson steps = OrderedJson::array();
    for (const Timetable::Row& row : table.rows) { steps.push_back(step(row)); }
    sums_.cost = route_.cost;
    sums_.driving = route_.seconds;
    sums_.metres = route_.metres;
    OrderedJson object{{"vehicle", name_json(vehicle_.id)}, {"cost", route_.cost / kUnit}};
    if (!vehicle_.description.empty()) { object["description"] = vehicle_.description; }
    sums_.put(problem_, object);
    object["violations"] = OrderedJson::array();
    object["steps"] = std::move(steps);
    return object;
  }
  [[nodiscard]] const Sums& sums() const { return sums_; }

 private:
  OrderedJson step(const Timetable::Row& row) {
    const Visit& visit = route_.visits[index(row.visit)];
    OrderedJson object;
    if (row.pause >= 0) {
      const Break& pause = vehicle_.breaks[index(row.pause)];
      object["type"] = "break";
      object["id"] = name_json(pause.id);
      if (!pause.description.empty()) { object["description"] = pause.description; }
    } else if (visit.stop < 0) {
      object["type"] = row.visit == 0 ? "start" : "end";
      put_place(problem_, visit.place, "location", "location_index", object);
    } else {
      put_stop(visit, object);
    }
    put_times(row, visit, object);
    return object;
  }

  void put_stop(const Visit& visit, OrderedJson& object) {
    const Stop& stop = stop_of(problem_, visit.stop);
    object["type"] = type_of(problem_, visit);
    object["id"] = name_json(stop.id);
    if (!stop.description.empty()) { object["description"] = stop.description; }
    put_place(problem_, stop.place, "location", "location_index", object);
    sums_.add(task_of(problem_, visit.stop), visit.stop % 2 == 1);
  }

  void put_times(const Timetable::Row& row, const Visit& visit, OrderedJson& object) {
    const bool is_stop = row.pause < 0 && visit.stop >= 0;
    // Without its setup a stop takes as long as after one at the same place.
    const std::int64_t service =
        is_stop ? problem_.work(vehicle_, stop_of(problem_, visit.stop), visit.place)
                : (row.end - row.start);
    const std::int64_t setup = is_stop ? visit.work - service : 0;
    const std::int64_t leg = index(row.visit) < route_.num_gaps() || row.pause >= 0
                                 ? row.visit - (row.pause >= 0 ? 1 : 0)
                                 : row.visit - 1;
    const std::size_t amounts = index(problem_.num_amounts);
    object["setup"] = setup;
    object["service"] = service;
    object["waiting_time"] = row.start - row.arrival;
    if (problem_.num_amounts > 0) {
      object["load"] = amounts_json(
          problem_, std::span(route_.load).subspan(amounts * static_cast<std::size_t>(leg)));
    }
    object["arrival"] = row.arrival;
    object["duration"] = row.driven_seconds;
    object["distance"] = row.driven_metres;
    object["violations"] = OrderedJson::array();
    if (is_stop) { sums_.setup += setup; }
    if (is_stop) { sums_.service += service; }
    sums_.waiting += row.start - row.arrival;
  }

  const Problem& problem_;
  const Route& route_;
  const Vehicle& vehicle_;
  Sums sums_;
};

OrderedJson unassigned_json(const Problem& problem, std::int32_t task, std::int32_t which) {
  const Task& left = problem.tasks[index(task)];
  const Stop& stop = left.stops[index(which)];
  const char* of_shipment = which == 0 ? "pickup" : "delivery";
  OrderedJson object{{"id", name_json(stop.id)}, {"type", left.is_shipment ? of_shipment : "job"}};
  if (!stop.description.empty()) { object["description"] = stop.description; }
  put_place(problem, stop.place, "location", "location_index", object);
  return object;
}

}  // namespace

std::string solution_json(const Schedule& plan) {
  const Problem& problem = plan.problem();
  Sums all;
  OrderedJson routes = OrderedJson::array();
  for (const Route& route : plan.routes()) {
    if (route.num_stops() == 0) { continue; }
    RouteWriter writer(problem, route);
    routes.push_back(writer.write());
    all.add(writer.sums());
  }
  OrderedJson unassigned = OrderedJson::array();
  for (const std::int32_t task : plan.unserved()) {
    for (std::int32_t k = 0; k < problem.tasks[index(task)].num_stops(); ++k) {
      unassigned.push_back(unassigned_json(problem, task, k));
    }
  }
  OrderedJson summary{
      {"cost", plan.cost() / kUnit}, {"routes", routes.size()}, {"unassigned", unassigned.size()}};
  all.put(problem, summary);
  summary["violations"] = OrderedJson::array();
  const OrderedJson document{{"code", 0},
                             {"summary", std::move(summary)},
                             {"unassigned", std::move(unassigned)},
                             {"routes", std::move(routes)}};
  return to_text(document, 1) + "\n";
}

}  // namespace penstock::booking::dispatch
