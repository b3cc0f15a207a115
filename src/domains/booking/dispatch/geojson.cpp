#include "domains/booking/dispatch/write_fields.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

OrderedJson pair_of(const Place& place) { return {place.point[0], place.point[1]}; }

OrderedJson feature(const char* type, OrderedJson coordinates, OrderedJson properties) {
  return {{"type", "Feature"},
          {"geometry", {{"type", type}, {"coordinates", std::move(coordinates)}}},
          {"properties", std::move(properties)}};
}

bool has_point(const Problem& problem, std::int32_t place) {
  return place >= 0 && problem.places[index(place)].has_point;
}

/// A route's line, then its stops with their order and times.
void put_route(const Problem& problem, const Route& route, OrderedJson& features) {
  const OrderedJson vehicle = name_json(vehicle_of(problem, route).id);
  OrderedJson line = OrderedJson::array();
  OrderedJson stops = OrderedJson::array();
  const Timetable table = timetable(problem, route);
  for (const Timetable::Row& row : table.rows) {
    const Visit& visit = route.visits[index(row.visit)];
    if (row.pause >= 0 || !has_point(problem, visit.place)) { continue; }
    OrderedJson at = pair_of(problem.places[index(visit.place)]);
    line.push_back(at);
    if (visit.stop < 0) { continue; }
    stops.push_back(feature("Point", std::move(at),
                            {{"id", name_json(stop_of(problem, visit.stop).id)},
                             {"vehicle", vehicle},
                             {"order", row.visit},
                             {"arrival", problem.told(row.arrival)},
                             {"start", problem.told(row.start)}}));
  }
  if (line.size() > 1) {
    features.push_back(feature("LineString", std::move(line),
                               {{"vehicle", vehicle},
                                {"stops", route.num_stops()},
                                {"metres", route.metres},
                                {"seconds", route.seconds}}));
  }
  for (OrderedJson& stop : stops) { features.push_back(std::move(stop)); }
}

}  // namespace

std::string geojson(const Schedule& plan) {
  const Problem& problem = plan.problem();
  OrderedJson features = OrderedJson::array();
  for (const Route& route : plan.routes()) {
    if (route.num_stops() > 0) { put_route(problem, route, features); }
  }
  for (const std::int32_t task : plan.unserved()) {
    const Task& left = problem.tasks[index(task)];
    for (std::int32_t k = 0; k < left.num_stops(); ++k) {
      const Stop& stop = left.stops[index(k)];
      if (!has_point(problem, stop.place)) { continue; }
      features.push_back(feature("Point", pair_of(problem.places[index(stop.place)]),
                                 {{"id", name_json(stop.id)}, {"vehicle", nullptr}}));
    }
  }
  const OrderedJson document{{"type", "FeatureCollection"}, {"features", std::move(features)}};
  return to_text(document, 1) + "\n";
}

}  // namespace penstock::booking::dispatch
