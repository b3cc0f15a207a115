#include <limits>

#include "domains/booking/dispatch/write_fields.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

OrderedJson windows_json(const TimeWindows& windows) {
  OrderedJson list = OrderedJson::array();
  for (const TimeWindow& window : windows) {
    list.push_back({window.earliest, std::min(window.latest, kLastTime)});
  }
  return list;
}

OrderedJson amount_json(const Problem& problem, const Amount& amount) {
  OrderedJson list = OrderedJson::array();
  for (std::int32_t d = 0; d < problem.num_amounts; ++d) { list.push_back(amount[index(d)]); }
  return list;
}

OrderedJson skills_json(const Problem& problem, const Skills& skills) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t s = 0; s < problem.skills.size(); ++s) {
    if (skills[s]) { list.push_back(problem.skills[s]); }
  }
  return list;
}

/// An amount of money in units; whole ones as whole numbers.
OrderedJson money_json(Money money) {
  if (money % kUnit == 0) { return money / kUnit; }
  return static_cast<double>(money) / kUnit;
}

OrderedJson by_type_json(const Problem& problem,
                         const std::vector<std::pair<std::int32_t, std::int32_t>>& by_type) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [type, seconds] : by_type) { object[problem.types[index(type)]] = seconds; }
  return object;
}

OrderedJson stop_json(const Problem& problem, const Stop& stop) {
  OrderedJson object{{"id", name_json(stop.id)}};
  if (!stop.description.empty()) { object["description"] = stop.description; }
  put_place(problem, stop.place, "location", "location_index", object);
  if (stop.setup > 0) { object["setup"] = stop.setup; }
  if (stop.service > 0) { object["service"] = stop.service; }
  if (!stop.setup_by_type.empty()) {
    object["setup_per_type"] = by_type_json(problem, stop.setup_by_type);
  }
  if (!stop.service_by_type.empty()) {
    object["service_per_type"] = by_type_json(problem, stop.service_by_type);
  }
  if (!stop.windows.empty()) { object["time_windows"] = windows_json(stop.windows); }
  return object;
}

void put_worth(const Problem& problem, const Task& task, OrderedJson& object) {
  if (task.skills.any()) { object["skills"] = skills_json(problem, task.skills); }
  if (task.priority > 0) { object["priority"] = task.priority; }
  if (task.revenue > 0) { object["revenue"] = money_json(task.revenue); }
}

OrderedJson job_json(const Problem& problem, const Task& task) {
  OrderedJson object = stop_json(problem, task.stops[0]);
  if (task.delivery != Amount{}) { object["delivery"] = amount_json(problem, task.delivery); }
  if (task.pickup != Amount{}) { object["pickup"] = amount_json(problem, task.pickup); }
  put_worth(problem, task, object);
  return object;
}

OrderedJson shipment_json(const Problem& problem, const Task& task) {
  OrderedJson object{{"pickup", stop_json(problem, task.stops[0])},
                     {"delivery", stop_json(problem, task.stops[1])}};
  if (task.pickup != Amount{}) { object["amount"] = amount_json(problem, task.pickup); }
  if (task.max_ride > 0) { object["max_ride"] = task.max_ride; }
  put_worth(problem, task, object);
  return object;
}

OrderedJson break_json(const Problem& problem, const Break& pause) {
  OrderedJson object{{"id", name_json(pause.id)}, {"service", pause.service}};
  if (!pause.windows.empty()) { object["time_windows"] = windows_json(pause.windows); }
  if (!pause.description.empty()) { object["description"] = pause.description; }
  if (pause.limits_load) { object["max_load"] = amount_json(problem, pause.max_load); }
  return object;
}

void put_limits(const Vehicle& vehicle, OrderedJson& object) {
  if (vehicle.speed_factor != 1) { object["speed_factor"] = vehicle.speed_factor; }
  if (vehicle.max_tasks != std::numeric_limits<std::int32_t>::max()) {
    object["max_tasks"] = vehicle.max_tasks;
  }
  if (vehicle.max_travel_time < kForever) { object["max_travel_time"] = vehicle.max_travel_time; }
  if (vehicle.max_distance < kForever) { object["max_distance"] = vehicle.max_distance; }
}

OrderedJson vehicle_json(const Problem& problem, const Vehicle& vehicle) {
  OrderedJson object{{"id", name_json(vehicle.id)}};
  if (!vehicle.description.empty()) { object["description"] = vehicle.description; }
  const std::string& profile = problem.profiles[index(vehicle.profile)].name;
  if (profile != "car") { object["profile"] = profile; }
  put_place(problem, vehicle.start, "start", "start_index", object);
  put_place(problem, vehicle.end, "end", "end_index", object);
  if (problem.num_amounts > 0) { object["capacity"] = amount_json(problem, vehicle.capacity); }
  if (vehicle.skills.any()) { object["skills"] = skills_json(problem, vehicle.skills); }
  if (vehicle.type >= 0) { object["type"] = problem.types[index(vehicle.type)]; }
  if (vehicle.shift != TimeWindow{}) { object["time_window"] = windows_json({vehicle.shift})[0]; }
  // Costs by a matrix exclude rates.
  if (problem.profiles[index(vehicle.profile)].costs.empty()) {
    object["costs"] = {{"fixed", money_json(vehicle.fixed)},
                       {"per_hour", vehicle.per_hour},
                       {"per_km", vehicle.per_km}};
    if (vehicle.per_task_hour > 0) { object["costs"]["per_task_hour"] = vehicle.per_task_hour; }
  } else if (vehicle.fixed > 0) {
    object["costs"] = {{"fixed", money_json(vehicle.fixed)}};
  }
  for (const Break& pause : vehicle.breaks) {
    object["breaks"].push_back(break_json(problem, pause));
  }
  put_limits(vehicle, object);
  for (const std::int32_t stop : vehicle.steps) {
    const bool shipment = task_of(problem, stop).is_shipment;
    const char* of_shipment = stop % 2 == 0 ? "pickup" : "delivery";
    object["steps"].push_back(
        {{"type", shipment ? of_shipment : "job"}, {"id", name_json(stop_of(problem, stop).id)}});
  }
  return object;
}

OrderedJson matrix_json(std::int32_t rows, const std::vector<std::int32_t>& cells) {
  OrderedJson list = OrderedJson::array();
  for (std::int32_t i = 0; i < rows; ++i) {
    const auto begin = cells.begin() + std::int64_t{i} * rows;
    list.push_back(std::vector<std::int32_t>(begin, begin + rows));
  }
  return list;
}

void put_matrices(const Problem& problem, OrderedJson& document) {
  for (const Profile& profile : problem.profiles) {
    if (profile.rows == 0) { continue; }
    OrderedJson object{{"durations", matrix_json(profile.rows, profile.seconds)}};
    if (!profile.metres.empty()) {
      object["distances"] = matrix_json(profile.rows, profile.metres);
    }
    if (!profile.costs.empty()) { object["costs"] = matrix_json(profile.rows, profile.costs); }
    document["matrices"][profile.name] = std::move(object);
  }
}

}  // namespace

std::string problem_json(const Problem& problem) {
  constexpr double kKmh = 3.6;
  OrderedJson document{{"vehicles", OrderedJson::array()}};
  for (const Vehicle& vehicle : problem.vehicles) {
    document["vehicles"].push_back(vehicle_json(problem, vehicle));
  }
  for (const Task& task : problem.tasks) {
    if (task.gone) { continue; }
    document[task.is_shipment ? "shipments" : "jobs"].push_back(
        task.is_shipment ? shipment_json(problem, task) : job_json(problem, task));
  }
  put_matrices(problem, document);
  OrderedJson speeds = OrderedJson::object();
  for (const Profile& profile : problem.profiles) {
    if (profile.rows == 0) { speeds[profile.name] = profile.metres_per_second * kKmh; }
  }
  if (!speeds.empty()) {
    document["roads"] = {{"circuity", problem.circuity}, {"speed_kmh", std::move(speeds)}};
  }
  return to_text(document, 1) + "\n";
}

}  // namespace penstock::booking::dispatch
