#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "domains/booking/dispatch/index.h"
#include "domains/booking/dispatch/read_fields.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/files.h"

namespace penstock::booking::dispatch {
namespace {

Json json_of(std::string_view text, const std::string& name) {
  try {
    return parse_json(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not JSON: {}", name, error.what()));
  }
}

/// "roads": how ways are made of coordinates.
void read_roads(const JsonField& field, Problem& problem) {
  constexpr double kKmh = 3.6;
  field.require_object({"circuity", "speed_kmh"});
  if (field.has("circuity")) { problem.circuity = field.at("circuity").number(1, 10); }
  if (!field.has("speed_kmh")) { return; }
  const JsonField speed = field.at("speed_kmh");
  if (speed.json().is_number()) {
    for (Profile& profile : problem.profiles) {
      profile.metres_per_second = speed.number(0.1, 1000) / kKmh;
    }
    return;
  }
  if (!speed.json().is_object()) { speed.fail("should be a number, or an object of profiles"); }
  for (const auto& [name, unused] : speed.json().items()) {
    const std::int32_t number = profile_named(name, problem);
    problem.profiles[index(number)].metres_per_second =
        speed.at(name.c_str()).number(0.1, 1000) / kKmh;
  }
}

/// A vehicle of this profile must find the place.
void require_way(const JsonField& root, const Profile& profile, const Place& place,
                 const Name& whose) {
  if (profile.rows == 0 && !place.has_point) {
    root.fail(
        fmt::format("{} has a row of a matrix, and profile \"{}\" has no matrix; give "
                    "\"matrices\" or a location",
                    whose.text, profile.name));
  }
  if (profile.rows > 0 && (place.row < 0 || place.row >= profile.rows)) {
    root.fail(
        fmt::format("{} needs a row of the matrix of profile \"{}\" from 0 to {}: "
                    "\"location_index\", \"start_index\" or \"end_index\"",
                    whose.text, profile.name, profile.rows - 1));
  }
}

class ProblemReader {
 public:
  explicit ProblemReader(const JsonField& root) : root_(root), fields_(problem_) {}

  Problem read() {
    root_.require_object(
        {"jobs", "shipments", "vehicles", "matrices", "matrix", "roads", "options", "forecast"});
    if (root_.has("matrices")) { read_matrices(root_.at("matrices"), problem_); }
    if (root_.has("matrix")) { read_old_matrix(); }
    read_vehicles();
    if (root_.has("roads")) { read_roads(root_.at("roads"), problem_); }
    read_tasks("jobs", read_job);
    read_tasks("shipments", read_shipment);
    require_ways();
    require_sane_costs();
    read_steps();
    return std::move(problem_);
  }

 private:
  /// Before profiles, VROOM had one matrix; it was of costs, and of durations.
  void read_old_matrix() {
    Profile& profile = problem_.profiles[0];
    read_matrix(root_.at("matrix"), kMostSeconds, profile.rows, profile.seconds);
  }

  void read_vehicles() {
    const JsonField list = root_.at("vehicles");
    list.require_array(kMostVehicles);
    if (list.size() == 0) { list.fail("is empty: nobody would drive"); }
    std::set<std::string> ids;
    for (std::size_t v = 0; v < list.size(); ++v) {
      problem_.vehicles.push_back(read_vehicle(fields_, list.at(v), problem_));
      if (!ids.insert(problem_.vehicles.back().id.text).second) {
        list.at(v).fail("has the id of another vehicle");
      }
    }
  }

  void read_tasks(const char* key, ReadTask (*read_one)(FieldReader&, const JsonField&)) {
    if (!root_.has(key)) { return; }
    const JsonField list = root_.at(key);
    list.require_array(kMostTasks);
    std::set<std::pair<std::size_t, std::string>> ids;
    for (std::size_t i = 0; i < list.size(); ++i) {
      ReadTask one = read_one(fields_, list.at(i));
      for (std::int32_t k = 0; k < one.task.num_stops(); ++k) {
        Stop& stop = one.task.stops[index(k)];
        if (!ids.emplace(index(k), stop.id.text).second) {
          list.at(i).fail(fmt::format("has the id of another of the {}", key));
        }
        stop.place = ordinal(problem_.places.size());
        problem_.places.push_back(one.places[index(k)]);
      }
      problem_.tasks.push_back(std::move(one.task));
    }
  }

  /// Every way that a vehicle may drive is known.
  void require_ways() const {
    for (const Vehicle& vehicle : problem_.vehicles) {
      const Profile& profile = problem_.profiles[index(vehicle.profile)];
      for (std::int32_t p : {vehicle.start, vehicle.end}) { require_place(profile, p, vehicle.id); }
      for (const Task& task : problem_.tasks) {
        for (std::int32_t k = 0; k < task.num_stops(); ++k) {
          require_place(profile, task.stops[index(k)].place, task.stops[index(k)].id);
        }
      }
    }
  }

  void require_place(const Profile& profile, std::int32_t number, const Name& whose) const {
    if (number >= 0) { require_way(root_, profile, problem_.places[index(number)], whose); }
  }

  /// No sum of costs may leave 64 bits.
  void require_sane_costs() const {
    constexpr double kMost = 4e18;
    const double legs = 2.0 * kMostTasks;
    for (const Vehicle& vehicle : problem_.vehicles) {
      const Profile& profile = problem_.profiles[index(vehicle.profile)];
      const double metres = profile.rows > 0 ? kMostMetres : 2e7 * problem_.circuity;
      const double seconds =
          profile.rows > 0 ? double{kMostSeconds} : metres / profile.metres_per_second;
      const double rates = static_cast<double>(vehicle.per_hour + vehicle.per_task_hour) * 1000;
      if (legs * rates * seconds / vehicle.speed_factor +
              legs * static_cast<double>(vehicle.per_km) * 3600 * metres >
          kMost) {
        root_.fail(
            fmt::format("the costs of vehicle {} are too large to be added up exactly; "
                        "give them in a larger unit",
                        vehicle.id.text));
      }
    }
  }

  void read_steps();

  const JsonField& root_;
  Problem problem_;
  FieldReader fields_;
};

/// What a vehicle is to drive already; steps without a task say nothing that is not known.
void ProblemReader::read_steps() {
  std::map<std::pair<std::string, std::string>, std::int32_t> stops;
  for (std::size_t t = 0; t < problem_.tasks.size(); ++t) {
    const Task& task = problem_.tasks[t];
    const auto stop = ordinal(2 * t);
    stops[{task.is_shipment ? "pickup" : "job", task.stops[0].id.text}] = stop;
    if (task.is_shipment) { stops[{"delivery", task.stops[1].id.text}] = stop + 1; }
  }
  const JsonField list = root_.at("vehicles");
  for (std::size_t v = 0; v < list.size(); ++v) {
    const JsonField vehicle = list.at(v);
    if (!vehicle.has("steps")) { continue; }
    const JsonField steps = vehicle.at("steps");
    steps.require_array(2 * kMostTasks + 50);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const JsonField step = steps.at(i);
      step.require_object({"type", "id", "service_at", "service_after", "service_before"});
      const std::string& type = step.at("type").text();
      if (type == "start" || type == "end" || type == "break") { continue; }
      const auto found = stops.find({type, step.at("id").name()});
      if (found == stops.end()) { step.fail("is not a job, pickup or delivery of this problem"); }
      problem_.vehicles[v].steps.push_back(found->second);
    }
  }
}

}  // namespace

Problem read_problem(std::string_view text, const std::string& name) {
  const Json document = json_of(text, name);
  const JsonField root(document, name);
  return ProblemReader(root).read();
}

Request read_request(std::string_view text, const std::string& name, Problem& problem) {
  const Json document = json_of(text, name);
  const JsonField root(document, name);
  FieldReader fields(problem, FieldReader::Known::all);
  const bool shipment =
      document.is_object() && document.contains("delivery") && document.at("delivery").is_object();
  ReadTask read = shipment ? read_shipment(fields, root) : read_job(fields, root);
  for (const Vehicle& vehicle : problem.vehicles) {
    for (std::int32_t k = 0; k < read.task.num_stops(); ++k) {
      require_way(root, problem.profiles[index(vehicle.profile)], read.places[index(k)],
                  read.task.stops[index(k)].id);
    }
  }
  return {.task = std::move(read.task), .places = read.places};
}

}  // namespace penstock::booking::dispatch
