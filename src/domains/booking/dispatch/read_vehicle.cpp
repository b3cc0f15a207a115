#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "domains/booking/dispatch/index.h"
#include "domains/booking/dispatch/read_fields.h"

namespace penstock::booking::dispatch {
namespace {

constexpr double kMostFixed = 1e8;
constexpr std::int32_t kMostRate = 100'000;
constexpr double kFastest = 5;  // of speed factors, as VROOM has it
constexpr std::size_t kMostBreaks = 20;

Break read_break(FieldReader& fields, const JsonField& field) {
  field.require_object({"id", "time_windows", "service", "description", "max_load"});
  Break pause{.id = FieldReader::name(field.at("id")),
              .description = FieldReader::description(field)};
  if (field.has("time_windows")) { pause.windows = fields.windows(field.at("time_windows")); }
  if (field.has("service")) { pause.service = FieldReader::seconds(field.at("service")); }
  if (field.has("max_load")) {
    pause.limits_load = true;
    pause.max_load = fields.amount(field.at("max_load"));
  }
  return pause;
}

void read_breaks(FieldReader& fields, const JsonField& field, std::vector<Break>& breaks) {
  field.require_array(kMostBreaks);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < field.size(); ++i) {
    breaks.push_back(read_break(fields, field.at(i)));
    if (!ids.insert(breaks.back().id.text).second) {
      field.at(i).fail("has the id of another break of this vehicle");
    }
  }
  // They are taken one after the other: by the ends of their windows.
  std::stable_sort(breaks.begin(), breaks.end(), [](const Break& a, const Break& b) {
    const auto end = [](const Break& one) {
      return one.windows.empty() ? kForever : one.windows.back().latest;
    };
    return end(a) < end(b);
  });
}

void read_costs(const JsonField& field, Vehicle& vehicle) {
  field.require_object({"fixed", "per_hour", "per_km", "per_task_hour"});
  if (field.has("fixed")) {
    vehicle.fixed = static_cast<Money>(field.at("fixed").number(0, kMostFixed) * kUnit);
  }
  const auto rate = [&](const char* key, std::int64_t& target) {
    if (field.has(key)) { target = field.at(key).integer(0, kMostRate); }
  };
  rate("per_hour", vehicle.per_hour);
  rate("per_km", vehicle.per_km);
  rate("per_task_hour", vehicle.per_task_hour);
}

void read_limits(const JsonField& field, Vehicle& vehicle) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (field.has("speed_factor")) {
    vehicle.speed_factor = field.at("speed_factor").number(0.01, kFastest);
  }
  if (field.has("max_tasks")) { vehicle.max_tasks = field.at("max_tasks").integer(0, kMost); }
  if (field.has("max_travel_time")) {
    vehicle.max_travel_time = field.at("max_travel_time").integer(0, kMost);
  }
  if (field.has("max_distance")) {
    vehicle.max_distance = field.at("max_distance").integer(0, kMost);
  }
}

}  // namespace

std::int32_t profile_named(const std::string& name, Problem& problem) {
  const auto found = std::find_if(problem.profiles.begin(), problem.profiles.end(),
                                  [&](const Profile& one) { return one.name == name; });
  if (found != problem.profiles.end()) { return ordinal(found - problem.profiles.begin()); }
  problem.profiles.push_back({.name = name});
  return ordinal(problem.profiles.size()) - 1;
}

Vehicle read_vehicle(FieldReader& fields, const JsonField& field, Problem& problem) {
  constexpr std::size_t kMostProfiles = 50;
  field.require_object({"id", "profile", "description", "start", "start_index", "end", "end_index",
                        "capacity", "costs", "skills", "type", "time_window", "breaks",
                        "speed_factor", "max_tasks", "max_travel_time", "max_distance", "steps"});
  Vehicle vehicle{.id = FieldReader::name(field.at("id")),
                  .description = FieldReader::description(field)};
  if (field.has("profile")) {
    vehicle.profile = profile_named(field.at("profile").text(), problem);
    if (problem.profiles.size() > kMostProfiles) { field.fail("has one profile too many"); }
  }
  const auto add = [&](const char* point, const char* row) -> std::int32_t {
    const auto place = fields.place(field, point, row);
    if (!place) { return -1; }
    problem.places.push_back(*place);
    return ordinal(problem.places.size()) - 1;
  };
  vehicle.start = add("start", "start_index");
  vehicle.end = add("end", "end_index");
  if (field.has("capacity")) { vehicle.capacity = fields.amount(field.at("capacity")); }
  if (field.has("costs")) { read_costs(field.at("costs"), vehicle); }
  if (field.has("skills")) { vehicle.skills = fields.skills(field.at("skills")); }
  if (field.has("type")) { vehicle.type = fields.type(field.at("type")); }
  if (field.has("time_window")) { vehicle.shift = fields.window(field.at("time_window")); }
  if (field.has("breaks")) { read_breaks(fields, field.at("breaks"), vehicle.breaks); }
  read_limits(field, vehicle);
  return vehicle;
}

}  // namespace penstock::booking::dispatch
