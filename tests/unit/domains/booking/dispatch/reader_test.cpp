#include <doctest/doctest.h>

#include <string>

#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/files.h"

using namespace penstock;
using namespace penstock::booking::dispatch;

namespace {

/// What reading complains of.
std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(read_problem(text, "day.json"));
  } catch (const DataError& error) { return error.what(); }
  return "";
}

const std::string kVehicles = R"("vehicles": [{"id": 1, "start": [4.9, 52.37]}])";

}  // namespace

TEST_CASE("VROOM's fields have VROOM's defaults") {
  const Problem problem = read_problem(R"({
    "vehicles": [{"id": 7, "start": [2.35, 48.86], "end": [2.35, 48.86]}],
    "jobs": [{"id": 3, "location": [2.36, 48.85]}],
    "shipments": [{"amount": [1], "pickup": {"id": 1, "location": [2.3, 48.8]},
                   "delivery": {"id": 2, "location": [2.4, 48.9]}}]})",
                                       "day.json");
  const Vehicle& vehicle = problem.vehicles[0];
  CHECK(vehicle.fixed == 0);
  CHECK(vehicle.per_hour == 3600);
  CHECK(vehicle.per_km == 0);
  CHECK(vehicle.speed_factor == 1);
  CHECK(vehicle.id == Name{.text = "7", .is_number = true});
  CHECK(vehicle.capacity[0] == 0);
  CHECK(problem.tasks[0].stops[0].windows.empty());
  CHECK(problem.tasks[1].is_shipment);
  CHECK(problem.tasks[1].stops[1].id.text == "2");
  CHECK(problem.num_amounts == 1);
  // A second of driving is a unit of cost.
  const Leg leg = problem.leg(vehicle, vehicle.start, problem.tasks[0].stops[0].place);
  CHECK(problem.cost(vehicle, leg) == kUnit * leg.seconds);
}

TEST_CASE("times are seconds, a clock's or dates, and one kind in a file") {
  const auto window = [](const std::string& pair) {
    const Problem problem = read_problem(
        "{" + kVehicles + R"(, "jobs": [{"id": "a", "location": [4.9, 52.4], "time_windows": [)" +
            pair + "]}]}",
        "day.json");
    return problem.tasks[0].stops[0].windows[0];
  };
  CHECK(window("[60, 3600]") == TimeWindow{60, 3600});
  CHECK(window(R"(["08:00", "26:30:05"])") == TimeWindow{28800, 95405});
  CHECK(window(R"(["2026-11-18T08:00:00Z", "2026-11-18T10:30+01:00"])") ==
        TimeWindow{1794988800, 1794994200});  // date -u -d ... +%s
  CHECK(fault_of("{" + kVehicles +
                 R"(, "jobs": [{"id": 1, "location": [4, 52],
                     "time_windows": [["08:00", "2026-11-18T08:00:00Z"]]}]})") ==
        "day.json: jobs[0].time_windows[0][1]: has a date, other times here are a clock's");
}

TEST_CASE("errors name the field and the nearest spelling") {
  CHECK(fault_of("{" + kVehicles + R"(, "jobs": [{"id": 1, "location": [4, 52], "servce": 3}]})")
            .find("day.json: jobs[0]: unknown field \"servce\", did you mean 'service'?") == 0);
  CHECK(fault_of("{" + kVehicles + R"(, "jobs": [{"id": 1}]})")
            .find("day.json: jobs[0]: has no place") == 0);
  CHECK(fault_of("{" + kVehicles + R"(, "jobs": [{"id": 1, "location_index": 2}]})")
            .find("has a row of a matrix") != std::string::npos);
  CHECK(fault_of("[1, 2").find("day.json: not JSON") == 0);
  CHECK(fault_of("{\"vehicles\": []}") == "day.json: vehicles: is empty: nobody would drive");
}

TEST_CASE("matrices are given, or are OSRM's or Valhalla's answer") {
  const auto leg = [](const std::string& matrix) {
    const Problem problem = read_problem(
        R"({"vehicles": [{"id": 1, "start_index": 0}], "jobs": [{"id": 1, "location_index": 1}],
            "matrices": {"car": )" +
            matrix + "}}",
        "day.json");
    return problem.leg(problem.vehicles[0], 0, 1);
  };
  CHECK(leg(R"({"durations": [[0, 70], [80, 0]]})").seconds == 70);
  const Leg osrm = leg(
      R"({"code": "Ok", "durations": [[0, 70.6], [80, 0]], "distances": [[0, 500.2], [1, 0]]})");
  CHECK(osrm.seconds == 71);
  CHECK(osrm.metres == 500);
  const Leg valhalla = leg(R"({"units": "kilometers", "sources_to_targets": [
      [{"time": 0, "distance": 0}, {"time": 70, "distance": 1.25}],
      [{"time": 75, "distance": 1.5}, {"time": 0, "distance": 0}]]})");
  CHECK(valhalla.seconds == 70);
  CHECK(valhalla.metres == 1250);
}
