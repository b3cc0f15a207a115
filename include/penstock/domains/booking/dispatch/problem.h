#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::booking::dispatch {

/// Seconds since whatever the problem counts from: midnight, or 1970 where it has dates.
using Time = std::int64_t;
/// Exact: 3,600,000 are one unit of the costs that a file gives (a second of driving, a cent, an
/// euro), so that whole amounts per hour and per km stay whole for every second and metre.
using Money = std::int64_t;
inline constexpr Money kUnit = 3'600'000;
/// After every time of a problem; far enough from the end of the type for sums.
inline constexpr Time kForever = 1'000'000'000'000;

/// What a problem may have at most. Readers refuse more; with this no sum overflows.
inline constexpr std::size_t kMostAmounts = 8;
inline constexpr std::size_t kMostSkills = 128;
inline constexpr std::size_t kMostTasks = 10'000;
inline constexpr std::size_t kMostVehicles = 2'000;
inline constexpr std::int32_t kMostSeconds = 10'000'000;  // of a leg or a service
inline constexpr std::int32_t kMostMetres = 40'000'000;   // of a leg
inline constexpr Time kLastTime = 100'000'000'000;

using Skills = std::bitset<kMostSkills>;
/// One number for each kind of goods; those beyond `Problem::num_amounts` are 0.
using Amount = std::array<std::int32_t, kMostAmounts>;

/// When work may begin, both ends allowed.
struct TimeWindow {
  Time earliest = 0;
  Time latest = kForever;
  bool operator==(const TimeWindow&) const = default;
};
/// In order and apart from each other; none: at any time.
using TimeWindows = std::vector<TimeWindow>;

/// The first time inside the windows that is not before `time`; kForever when there is none.
Time first_inside(const TimeWindows& windows, Time time);
/// The last time inside the windows that is not after `time`; -kForever when there is none.
Time last_inside(const TimeWindows& windows, Time time);

/// An id as a file gives it: a text, or a whole number, which is written as one again.
struct Name {
  std::string text;
  bool is_number = false;
  bool operator==(const Name&) const = default;
  bool operator<(const Name& other) const { return text < other.text; }
};

/// A place of work: coordinates, a row of the matrices, or both.
struct Place {
  std::array<double, 2> point{};  // degrees (lon, lat) or metres (x, y), as given
  std::array<double, 3> at{};     // on the globe of radius 1, or the same metres
  bool has_point = false;
  std::int32_t row = -1;  // of the matrices; -1: none
};
Place place_in_degrees(double lon, double lat);
Place place_in_metres(double x, double y);

/// The way from one place to another.
struct Leg {
  std::int32_t metres = 0;
  std::int32_t seconds = 0;
  std::int32_t cost = 0;  // in units, where a matrix of costs is given
};

/// A kind of vehicle on the road: its matrices, or a speed for the ways by coordinates.
struct Profile {
  std::string name = "car";
  double metres_per_second = 24 / 3.6;
  std::int32_t rows = 0;              // 0: no matrix
  std::vector<std::int32_t> seconds;  // [rows, rows]
  std::vector<std::int32_t> metres;   // [rows, rows], or empty: none
  std::vector<std::int32_t> costs;    // [rows, rows], or empty: by the vehicle's rates
};

/// One stop of a task.
struct Stop {
  Name id;
  std::string description;
  std::int32_t place = -1;
  std::int32_t setup = 0;    // seconds, unless the vehicle is at the place already
  std::int32_t service = 0;  // seconds
  std::vector<std::pair<std::int32_t, std::int32_t>> setup_by_type;    // (type, seconds)
  std::vector<std::pair<std::int32_t, std::int32_t>> service_by_type;  // (type, seconds)
  TimeWindows windows;
};

/// What a customer asks for. A job is one stop, which takes its delivery from the vehicle's start
/// and its pickup to the vehicle's end. A shipment is a pickup and, later, a delivery by the same
/// vehicle.
struct Task {
  bool is_shipment = false;
  std::array<Stop, 2> stops;  // of a job the first only
  Amount delivery{};          // of a job
  Amount pickup{};            // of a job; of a shipment what it carries
  Skills skills;
  std::int32_t priority = 0;  // 0 to 100; higher ones are served first
  Money revenue = 0;          // what it pays
  std::int32_t max_ride = 0;  // of a shipment: seconds from leaving the pickup; 0: no limit
  bool gone = false;          // removed; its place in the list waits for another
  [[nodiscard]] std::int32_t num_stops() const { return is_shipment ? 2 : 1; }
};

/// A pause of a driver, anywhere on the way: it may interrupt driving, not work.
struct Break {
  Name id;
  std::string description;
  TimeWindows windows;
  std::int32_t service = 0;
  bool limits_load = false;
  Amount max_load{};
};

struct Vehicle {
  Name id;
  std::string description;
  std::int32_t profile = 0;
  std::int32_t type = -1;
  std::int32_t start = -1;  // place; -1: it begins where its first stop is
  std::int32_t end = -1;    // place; -1: it ends where its last stop is
  TimeWindow shift;
  std::vector<Break> breaks;  // in the order in which they are taken
  Skills skills;
  Amount capacity{};
  Money fixed = 0;                 // when it has a stop
  std::int64_t per_hour = 3600;    // units per hour of driving
  std::int64_t per_km = 0;         // units per km
  std::int64_t per_task_hour = 0;  // units per hour of setup and service
  double speed_factor = 1;
  std::int32_t max_tasks = std::numeric_limits<std::int32_t>::max();  // stops
  std::int64_t max_travel_time = kForever;                            // seconds of driving
  std::int64_t max_distance = kForever;                               // metres
  std::vector<std::int32_t> steps;  // what it is to drive already: 2 * task, + 1 for a delivery
};

/// Fleet and demand of a day, or of several. A plain value that nothing checks; `read_problem`
/// makes good ones. Every stop has a place of its own, so that it can go with it. Ways are computed
/// from coordinates when they are asked for, so that a task costs no row of a matrix.
///
///     const Leg leg = problem.leg(problem.vehicles[0], from, to);   // places
struct Problem {
  std::vector<Vehicle> vehicles;
  std::vector<Task> tasks;
  std::vector<Place> places;
  std::vector<Profile> profiles{Profile{}};
  std::vector<std::string> skills;  // their names, by number
  std::vector<std::string> types;   // of vehicles
  std::int32_t num_amounts = 0;
  bool degrees = true;    // coordinates are (lon, lat)
  double circuity = 1.3;  // of roads, to the crow's flight
  bool dates = false;     // times count from 1970, and are told as dates
  bool clock = false;     // times count from midnight, and are told as HH:MM:SS

  /// The way between two places; nothing where one is -1. Durations are the vehicle's own.
  [[nodiscard]] Leg leg(const Vehicle& vehicle, std::int32_t from, std::int32_t to) const;
  /// The same of places that need not be among those of the problem.
  [[nodiscard]] Leg leg(const Vehicle& vehicle, const Place& from, const Place& to) const;
  /// What it costs this vehicle.
  [[nodiscard]] Money cost(const Vehicle& vehicle, const Leg& leg) const {
    return profiles[static_cast<std::size_t>(vehicle.profile)].costs.empty()
               ? vehicle.per_hour * 1000 * leg.seconds + vehicle.per_km * 3600 * leg.metres
               : kUnit * leg.cost;
  }
  /// Seconds of work at a stop, by the place before it.
  [[nodiscard]] std::int32_t work(const Vehicle& vehicle, const Stop& stop,
                                  std::int32_t place_before) const {
    const bool plain =
        stop.setup == 0 && stop.setup_by_type.empty() && stop.service_by_type.empty();
    return plain ? stop.service : any_work(vehicle, stop, place_before);
  }
  /// Whether no setup is due between the two.
  [[nodiscard]] bool same_place(std::int32_t a, std::int32_t b) const;
  [[nodiscard]] bool can_serve(const Vehicle& vehicle, const Task& task) const {
    return (task.skills & ~vehicle.skills).none();
  }
  /// The same of any stop, by looking at everything.
  [[nodiscard]] std::int32_t any_work(const Vehicle& vehicle, const Stop& stop,
                                      std::int32_t place_before) const;
  /// A time for people: a date, a clock's time or seconds, as the problem was given.
  [[nodiscard]] std::string told(Time time) const;
};

/// "HH:MM:SS" of a time of day; days that follow count on: 25:00:00.
std::string clock_text(Time time);
/// "2026-11-18T08:00:00Z"
std::string date_text(Time time);

}  // namespace penstock::booking::dispatch
