#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {

/// Random fleets and tasks of all kinds, for properties.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::int32_t between(int low, int high) {
    return low +
           static_cast<std::int32_t>(random_.below(static_cast<std::uint32_t>(high - low + 1)));
  }
  bool chance(double share) { return random_.uniform() < share; }

  Place place() { return place_in_metres(between(0, kSide), between(0, kSide)); }
  TimeWindows windows() {
    TimeWindows list;
    for (Time from = between(0, 4) * 3600; from < 9 * 3600; from += between(2, 5) * 3600) {
      list.push_back({.earliest = from, .latest = from + between(600, 6000)});
    }
    if (chance(0.3)) { list.clear(); }
    if (chance(0.6) && list.size() > 1) { list.resize(1); }
    return list;
  }
  Request request(std::int32_t number) {
    Request request;
    Task& task = request.task;
    task.is_shipment = chance(0.4);
    for (std::size_t k = 0; k < 2; ++k) {
      Stop& stop = task.stops[k];
      stop.id = {.text = fmt::format("t{}", number)};
      stop.setup = chance(0.3) ? between(0, 300) : 0;
      stop.service = between(0, 600);
      stop.windows = windows();
      request.places[k] = place();
    }
    if (task.is_shipment && chance(0.5)) { request.places[1] = request.places[0]; }
    task.pickup = {between(0, 2), between(0, 1)};
    if (!task.is_shipment) { task.delivery = {between(0, 2), between(0, 2)}; }
    if (chance(0.3)) { task.skills.set(static_cast<std::size_t>(between(0, 2))); }
    if (task.is_shipment && chance(0.5)) { task.max_ride = between(600, 4000); }
    task.priority = chance(0.2) ? between(0, 100) : 0;
    return request;
  }
  Problem fleet(int vehicles) {
    Problem problem{.num_amounts = 2, .degrees = false, .clock = true};
    problem.skills = {"a", "b", "c"};
    for (int v = 0; v < vehicles; ++v) { problem.vehicles.push_back(vehicle(problem, v)); }
    return problem;
  }
  Problem problem(int vehicles, int tasks) {
    Problem made = fleet(vehicles);
    for (int t = 0; t < tasks; ++t) {
      Request one = request(t);
      for (std::int32_t k = 0; k < one.task.num_stops(); ++k) {
        one.task.stops[static_cast<std::size_t>(k)].place =
            add(made, one.places[static_cast<std::size_t>(k)]);
      }
      made.tasks.push_back(one.task);
    }
    return made;
  }

 private:
  static constexpr int kSide = 8000;

  static std::int32_t add(Problem& problem, const Place& place) {
    problem.places.push_back(place);
    return static_cast<std::int32_t>(problem.places.size()) - 1;
  }
  Vehicle vehicle(Problem& problem, int number) {
    Vehicle vehicle{.id = {.text = fmt::format("v{}", number)}};
    if (chance(0.8)) { vehicle.start = add(problem, place()); }
    if (chance(0.8)) { vehicle.end = add(problem, place()); }
    vehicle.shift = {.earliest = between(0, 2) * 3600, .latest = between(6, 10) * 3600};
    vehicle.capacity = {between(2, 6), between(2, 6)};
    for (std::size_t s = 0; s < 3; ++s) { vehicle.skills[s] = chance(0.6); }
    vehicle.fixed = between(0, 2) * 1000 * kUnit;
    vehicle.per_hour = between(1, 4) * 1800;
    vehicle.per_km = between(0, 200);
    vehicle.per_task_hour = chance(0.3) ? between(0, 3600) : 0;
    vehicle.speed_factor = chance(0.5) ? 1 : random_.uniform(0.7, 1.4);
    if (chance(0.3)) { vehicle.max_tasks = between(1, 8); }
    if (chance(0.3)) { vehicle.max_travel_time = between(2000, 9000); }
    if (chance(0.3)) { vehicle.max_distance = between(10'000, 60'000); }
    for (int b = chance(0.5) ? between(1, 2) : 0; b > 0; --b) {
      vehicle.breaks.insert(vehicle.breaks.begin(), pause(b));
    }
    return vehicle;
  }
  Break pause(int number) {
    const Time from = number * between(2, 3) * 3600;
    Break pause{.id = {.text = fmt::format("b{}", number)},
                .windows = {{.earliest = from, .latest = from + between(600, 5400)}},
                .service = between(300, 2400)};
    pause.limits_load = chance(0.2);
    pause.max_load = {2, 2};
    return pause;
  }

  Random random_;
};

}  // namespace penstock::booking::dispatch
