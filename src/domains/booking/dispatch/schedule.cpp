#include "penstock/domains/booking/dispatch/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domains/booking/dispatch/scratch.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking::dispatch {
namespace {

constexpr std::int32_t kSeveral = -1;  // in the place of a number: more than one task has the id

}  // namespace

const char* name_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::skills:
      return "skills";
    case Obstacle::capacity:
      return "capacity";
    case Obstacle::shift:
      return "shift";
    case Obstacle::window:
      return "window";
    default:
      return "none";
  }
}

Schedule::Schedule(Problem problem)
    : problem_(std::move(problem)), scratch_(std::make_unique<Scratch>()) {
  for (std::size_t t = 0; t < problem_.tasks.size(); ++t) {
    const Task& task = problem_.tasks[t];
    const auto number = ordinal(t);
    if (task.gone) {
      free_tasks_.push_back(number);
    } else {
      const auto [entry, is_new] = number_of_.emplace(task.stops[0].id.text, number);
      if (!is_new) { entry->second = kSeveral; }
    }
  }
  clear();
}

Schedule::Schedule(const Schedule& other)
    : problem_(other.problem_),
      routes_(other.routes_),
      vehicle_of_(other.vehicle_of_),
      free_tasks_(other.free_tasks_),
      free_places_(other.free_places_),
      number_of_(other.number_of_),
      scratch_(std::make_unique<Scratch>()) {}

Schedule& Schedule::operator=(const Schedule& other) {
  *this = Schedule(other);
  return *this;
}

Schedule::Schedule(Schedule&& other) noexcept = default;
Schedule& Schedule::operator=(Schedule&& other) noexcept = default;
Schedule::~Schedule() = default;

void Schedule::clear() {
  routes_.clear();
  for (std::size_t v = 0; v < problem_.vehicles.size(); ++v) {
    routes_.push_back(empty_route(problem_, ordinal(v)));
  }
  vehicle_of_.assign(problem_.tasks.size(), -1);
}

std::vector<std::int32_t> Schedule::unserved() const {
  std::vector<std::int32_t> tasks;
  for (std::size_t t = 0; t < vehicle_of_.size(); ++t) {
    if (vehicle_of_[t] < 0 && !problem_.tasks[t].gone) { tasks.push_back(ordinal(t)); }
  }
  return tasks;
}

std::optional<std::int32_t> Schedule::find(std::string_view id) const {
  const auto found = number_of_.find(std::string(id));
  if (found == number_of_.end()) { return {}; }
  if (found->second == kSeveral) {
    throw DataError(fmt::format("a job and a shipment have the id \"{}\": give them two", id));
  }
  return found->second;
}

std::int32_t Schedule::vehicle_of(std::int32_t task) const { return vehicle_of_[index(task)]; }

Money Schedule::cost() const {
  Money sum = 0;
  for (const Route& route : routes_) { sum += route.cost; }
  return sum;
}

std::int64_t Schedule::metres() const {
  std::int64_t sum = 0;
  for (const Route& route : routes_) { sum += route.metres; }
  return sum;
}

std::int64_t Schedule::seconds() const {
  std::int64_t sum = 0;
  for (const Route& route : routes_) { sum += route.seconds; }
  return sum;
}

std::int32_t Schedule::vehicles_used() const {
  return std::count_if(routes_.begin(), routes_.end(),
                       [](const Route& route) { return route.num_stops() > 0; });
}

/// Makes a request a task of the problem that is unserved.
std::int32_t Schedule::admit(const Request& request) {
  const auto take = [](std::vector<std::int32_t>& free, auto& list) {
    if (free.empty()) {
      list.emplace_back();
      return ordinal(list.size()) - 1;
    }
    const std::int32_t number = free.back();
    free.pop_back();
    return number;
  };
  const std::int32_t number = take(free_tasks_, problem_.tasks);
  Task& task = problem_.tasks[index(number)];
  task = request.task;
  task.gone = false;
  for (std::int32_t i = 0; i < task.num_stops(); ++i) {
    const std::int32_t place = take(free_places_, problem_.places);
    problem_.places[index(place)] = request.places[index(i)];
    task.stops[index(i)].place = place;
  }
  vehicle_of_.resize(problem_.tasks.size(), -1);
  return number;
}

void Schedule::forget(std::int32_t number) {
  Task& task = problem_.tasks[index(number)];
  for (std::int32_t i = 0; i < task.num_stops(); ++i) {
    free_places_.push_back(task.stops[index(i)].place);
  }
  task = Task{};
  task.gone = true;
  free_tasks_.push_back(number);
}

void Schedule::put(std::int32_t task, const Placement& where) {
  Route& route = routes_[index(where.vehicle)];
  dispatch::insert(problem_, route, task, where);
  move_breaks(problem_, route);
  vehicle_of_[index(task)] = where.vehicle;
}

Route Schedule::preview(const Request& request, const TimeWindow& window, const Placement& where,
                        bool of_delivery) {
  const std::int32_t number = admit(request);
  problem_.tasks[index(number)].stops[of_delivery ? 1 : 0].windows.assign(1, window);
  Route route = routes_[index(where.vehicle)];
  dispatch::insert(problem_, route, number, where);
  move_breaks(problem_, route);
  forget(number);
  return route;
}

std::optional<std::int32_t> Schedule::insert(const Request& request,
                                             std::optional<TimeWindow> window, bool of_delivery) {
  const std::string& id = request.task.stops[0].id.text;
  if (number_of_.contains(id)) {
    throw DataError(fmt::format("the id \"{}\" is taken; remove that task first", id));
  }
  const std::int32_t number = admit(request);
  if (window) {
    problem_.tasks[index(number)].stops[of_delivery ? 1 : 0].windows.assign(1, *window);
  }
  if (!serve(number)) {
    forget(number);
    return {};
  }
  number_of_.emplace(id, number);
  return number;
}

bool Schedule::serve(std::int32_t task) {
  const Placement where = cheapest(task);
  if (where.fits()) { put(task, where); }
  return where.fits();
}

void Schedule::withdraw(std::int32_t task) {
  std::int32_t& vehicle = vehicle_of_[index(task)];
  if (vehicle < 0) { return; }
  erase(problem_, routes_[index(vehicle)], task);
  vehicle = -1;
}

bool Schedule::remove(std::int32_t task) {
  const std::int32_t vehicle = vehicle_of_[index(task)];
  if (vehicle >= 0) {
    const Route before = routes_[index(vehicle)];
    withdraw(task);
    if (!keeps_promises(problem_, routes_[index(vehicle)]) && !serve_again(vehicle)) {
      routes_[index(vehicle)] = before;
      vehicle_of_[index(task)] = vehicle;
      return false;
    }
  }
  number_of_.erase(problem_.tasks[index(task)].stops[0].id.text);
  forget(task);
  return true;
}

/// Takes out all that the vehicle is not under way to and serves it anew, wherever it fits; false
/// when something fits nowhere, and then nothing changes.
bool Schedule::serve_again(std::int32_t vehicle) {
  const std::vector<Route> routes = routes_;
  const std::vector<std::int32_t> vehicles = vehicle_of_;
  const auto& visits = routes[index(vehicle)].visits;
  const auto waiting = std::span(visits).subspan(1 + index(routes[index(vehicle)].frozen));
  std::vector<std::int32_t> tasks;
  for (const Visit& visit : waiting) {
    if (visit.stop >= 0 && visit.stop % 2 == 0) { tasks.push_back(visit.stop / 2); }
  }
  for (const std::int32_t task : tasks) { withdraw(task); }
  const bool stands = keeps_promises(problem_, routes_[index(vehicle)]) &&
                      std::ranges::all_of(tasks, [&](std::int32_t task) { return serve(task); });
  if (!stands) {
    routes_ = routes;
    vehicle_of_ = vehicles;
  }
  return stands;
}

void Schedule::freeze(std::int32_t vehicle, std::int32_t stops, Time now) {
  Route& route = routes_[index(vehicle)];
  if (stops < 0 || stops > route.num_stops()) {
    throw UsageError(fmt::format("vehicle {} has {} stops: {} cannot be under way",
                                 problem_.vehicles[index(vehicle)].id.text, route.num_stops(),
                                 stops));
  }
  route.frozen = stops;
  route.not_before = now;
  rebuild(problem_, route);
}

}  // namespace penstock::booking::dispatch
