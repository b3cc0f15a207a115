#include "penstock/domains/booking/dispatch/checker.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace penstock::booking::dispatch {
namespace {

using Kind = Step::Kind;

/// A stop's task and which of its two it is.
struct Found {
  std::size_t task = 0;
  std::size_t which = 0;
};

const char* word_of(Kind kind) {
  switch (kind) {
    case Kind::start:
      return "start";
    case Kind::pickup:
      return "pickup";
    case Kind::delivery:
      return "delivery";
    case Kind::pause:
      return "break";
    case Kind::end:
      return "end";
    default:
      return "job";
  }
}

/// Everything by its id.
class Directory {
 public:
  explicit Directory(const Problem& problem) {
    for (std::size_t v = 0; v < problem.vehicles.size(); ++v) {
      vehicles_[problem.vehicles[v].id.text] = v;
    }
    for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
      const Task& task = problem.tasks[t];
      if (task.gone) { continue; }
      stops_[{task.is_shipment ? Kind::pickup : Kind::job, task.stops[0].id.text}] = {t, 0};
      if (task.is_shipment) { stops_[{Kind::delivery, task.stops[1].id.text}] = {t, 1}; }
    }
  }
  [[nodiscard]] std::optional<Found> stop(const Step& step) const {
    const auto found = stops_.find({step.kind, step.id.text});
    return found == stops_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::optional<std::size_t> vehicle(const Name& id) const {
    const auto found = vehicles_.find(id.text);
    return found == vehicles_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, std::size_t, std::less<>> vehicles_;
  std::map<std::pair<Kind, std::string>, Found> stops_;
};

/// One route, step by step.
class RouteCheck {
 public:
  RouteCheck(const Problem& problem, const Directory& directory, const Vehicle& vehicle,
             const ToldRoute& route, std::vector<std::string>& wrong)
      : problem_(problem), directory_(directory), vehicle_(vehicle), route_(route), wrong_(wrong) {}

  void run(std::vector<int>& served) {
    for (const Step& step : route_.steps) { stops_ += is_stop(step) ? 1 : 0; }
    if (stops_ == 0) { return; }
    load_up();
    place_ = vehicle_.start;
    now_ = vehicle_.shift.earliest;
    for (std::size_t i = 0; i < route_.steps.size(); ++i) { take(route_.steps[i], i, served); }
    finish();
  }

  [[nodiscard]] Money cost() const { return cost_; }

 private:
  static bool is_stop(const Step& step) {
    return step.kind == Kind::job || step.kind == Kind::pickup || step.kind == Kind::delivery;
  }

  template <class... Values>
  void complain(fmt::format_string<Values...> pattern, Values&&... values) {
    wrong_.push_back(fmt::format("vehicle {}: {}", vehicle_.id.text,
                                 fmt::format(pattern, std::forward<Values>(values)...)));
  }

  void load_up() {
    for (const Step& step : route_.steps) {
      const auto found = step.kind == Kind::job ? directory_.stop(step) : std::nullopt;
      for (std::size_t d = 0; found && d < kMostAmounts; ++d) {
        load_[d] += problem_.tasks[found->task].delivery[d];
      }
    }
    require_room("the start");
  }

  void require_room(const std::string& where) {
    for (std::size_t d = 0; d < kMostAmounts; ++d) {
      if (load_[d] > vehicle_.capacity[d]) {
        complain("carries {} after {}, its capacity is {}{}", load_[d], where, vehicle_.capacity[d],
                 problem_.num_amounts > 1 ? fmt::format(" (amount {})", d) : "");
      }
    }
  }

  void take(const Step& step, std::size_t i, std::vector<int>& served) {
    if (step.kind == Kind::start) {
      if (i != 0) { complain("a start after the first step"); }
      if (step.start < vehicle_.shift.earliest) {
        complain("starts at {}, its shift begins at {}", problem_.told(step.start),
                 problem_.told(vehicle_.shift.earliest));
      }
      now_ = step.start;
      return;
    }
    if (step.kind == Kind::pause) { return rest(step); }
    if (step.kind == Kind::end) { return arrive(step, vehicle_.end, "the end"); }
    const auto found = directory_.stop(step);
    if (!found) { return complain("unknown {} {}", word_of(step.kind), step.id.text); }
    serve(step, *found, served);
  }

  void rest(const Step& step) {
    const Break* pause = nullptr;
    for (const Break& one : vehicle_.breaks) {
      if (one.id == step.id) { pause = &one; }
    }
    if (pause == nullptr) { return complain("unknown break {}", step.id.text); }
    if (!rested_.insert(step.id.text).second) { complain("break {} twice", step.id.text); }
    if (step.start < now_) {
      complain("break {} begins at {}, work ends at {}", step.id.text, problem_.told(step.start),
               problem_.told(now_));
    }
    require_inside(pause->windows, step, fmt::format("break {}", step.id.text));
    for (std::size_t d = 0; pause->limits_load && d < kMostAmounts; ++d) {
      if (load_[d] > pause->max_load[d]) {
        complain("carries {} in break {}, at most {}", load_[d], step.id.text, pause->max_load[d]);
      }
    }
    paused_ += pause->service;
    paused_until_ = step.start + pause->service;
    now_ = std::max(now_, paused_until_);
    waited_ = true;
  }

  /// Driving from where the last work ended; breaks in between add to it.
  void arrive(const Step& step, std::int32_t place, const std::string& name) {
    const Leg leg = problem_.leg(vehicle_, place_, place);
    seconds_ += leg.seconds;
    metres_ += leg.metres;
    cost_ += problem_.cost(vehicle_, leg);
    const Time from = waited_ ? left_ : now_;
    const Time least = std::max(now_, from + paused_ + leg.seconds);
    if (step.arrival < least) {
      complain("arrives at {} at {}, cannot be there before {}", name, problem_.told(step.arrival),
               problem_.told(least));
    }
    place_ = place;
    now_ = left_ = step.arrival;
    paused_ = 0;
    waited_ = false;
    if (step.kind == Kind::end) { ended_ = true; }
  }

  void require_inside(const TimeWindows& windows, const Step& step, const std::string& name) {
    if (windows.empty()) { return; }
    std::string open;
    for (const TimeWindow& window : windows) {
      if (step.start >= window.earliest && step.start <= window.latest) { return; }
      open += fmt::format("{}{} to {}", open.empty() ? "" : ", ", problem_.told(window.earliest),
                          problem_.told(window.latest));
    }
    complain("{} begins at {}, promised was {}", name, problem_.told(step.start), open);
  }

  void serve(const Step& step, const Found& found, std::vector<int>& served) {
    const Task& task = problem_.tasks[found.task];
    const Stop& stop = task.stops[found.which];
    const std::string name = fmt::format("{} {}", word_of(step.kind), step.id.text);
    const std::int32_t before = place_;
    arrive(step, stop.place, name);
    if (step.start < step.arrival) {
      complain("{} begins at {}, before the arrival at {}", name, problem_.told(step.start),
               problem_.told(step.arrival));
    }
    require_inside(stop.windows, step, name);
    const std::int32_t work = problem_.work(vehicle_, stop, before);
    cost_ += vehicle_.per_task_hour * 1000 * work;
    now_ = left_ = step.start + work;
    if ((task.skills & ~vehicle_.skills).any()) { complain("has not all skills of {}", name); }
    follow(step, found, served, name);
  }

  void follow(const Step& step, const Found& found, std::vector<int>& served,
              const std::string& name) {
    const Task& task = problem_.tasks[found.task];
    const std::int64_t sign = found.which == 0 ? 1 : -1;
    for (std::size_t d = 0; d < kMostAmounts; ++d) {
      load_[d] += sign * task.pickup[d] - (task.is_shipment ? 0 : task.delivery[d]);
    }
    require_room(name);
    ++served[2 * found.task + found.which];
    if (!task.is_shipment) { return; }
    if (found.which == 0) {
      boarded_[found.task] = now_;
      return;
    }
    const auto up = boarded_.find(found.task);
    if (up == boarded_.end()) { return complain("{} without its pickup before", name); }
    if (task.max_ride > 0 && step.start - up->second > task.max_ride) {
      complain("{} at {}, {} s after its pickup, at most {}", name, problem_.told(step.start),
               step.start - up->second, task.max_ride);
    }
    boarded_.erase(up);
  }

  void finish() {
    cost_ += vehicle_.fixed;
    if (vehicle_.end >= 0 && !ended_) { complain("has no end"); }
    for (const Break& pause : vehicle_.breaks) {
      if (!rested_.contains(pause.id.text)) { complain("break {} is missing", pause.id.text); }
    }
    for (const auto& [task, when] : boarded_) {
      complain("pickup {} without its delivery", problem_.tasks[task].stops[0].id.text);
    }
    if (now_ > vehicle_.shift.latest) {
      complain("ends at {}, its shift at {}", problem_.told(now_),
               problem_.told(vehicle_.shift.latest));
    }
    if (stops_ > vehicle_.max_tasks) {
      complain("{} tasks, at most {}", stops_, vehicle_.max_tasks);
    }
    if (seconds_ > vehicle_.max_travel_time) {
      complain("drives {} s, at most {}", seconds_, vehicle_.max_travel_time);
    }
    if (metres_ > vehicle_.max_distance) {
      complain("drives {} m, at most {}", metres_, vehicle_.max_distance);
    }
  }

  const Problem& problem_;
  const Directory& directory_;
  const Vehicle& vehicle_;
  const ToldRoute& route_;
  std::vector<std::string>& wrong_;
  std::int64_t stops_ = 0;
  std::int32_t place_ = -1;
  Time now_ = 0;     // the vehicle is free
  Time left_ = 0;    // it left its last place
  Time paused_ = 0;  // since then
  Time paused_until_ = 0;
  bool waited_ = false;  // for a break since then
  bool ended_ = false;
  std::int64_t seconds_ = 0;
  std::int64_t metres_ = 0;
  Money cost_ = 0;
  std::array<std::int64_t, kMostAmounts> load_{};
  std::set<std::string> rested_;
  std::map<std::size_t, Time> boarded_;  // by task
};

/// Runs over all routes; returns their cost.
Money walk(const Problem& problem, const ToldSolution& solution, std::vector<int>& served,
           std::vector<std::string>& wrong) {
  const Directory directory(problem);
  std::set<std::string> seen;
  Money cost = 0;
  for (const ToldRoute& route : solution.routes) {
    const auto vehicle = directory.vehicle(route.vehicle);
    if (!vehicle) {
      wrong.push_back(fmt::format("unknown vehicle {}", route.vehicle.text));
      continue;
    }
    if (!seen.insert(route.vehicle.text).second) {
      wrong.push_back(fmt::format("vehicle {} has two routes", route.vehicle.text));
    }
    RouteCheck check(problem, directory, problem.vehicles[*vehicle], route, wrong);
    check.run(served);
    cost += check.cost();
  }
  return cost;
}

void count_tasks(const Problem& problem, const ToldSolution& solution,
                 const std::vector<int>& served, std::vector<std::string>& wrong) {
  std::set<std::string> left_out;
  for (const Name& id : solution.unserved) { left_out.insert(id.text); }
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    const Task& task = problem.tasks[t];
    for (std::size_t which = 0; !task.gone && which < (task.is_shipment ? 2U : 1U); ++which) {
      const std::string& id = task.stops[which].id.text;
      const int times = served[2 * t + which];
      const bool missing = left_out.contains(id);
      if (times > 1) { wrong.push_back(fmt::format("task {} is served {} times", id, times)); }
      if (times == 0 && !missing) {
        wrong.push_back(fmt::format("task {} is neither served nor unassigned", id));
      }
    }
  }
}

}  // namespace

std::vector<std::string> check(const Problem& problem, const ToldSolution& solution) {
  std::vector<std::string> wrong;
  std::vector<int> served(2 * problem.tasks.size(), 0);
  const Money cost = walk(problem, solution, served, wrong);
  count_tasks(problem, solution, served, wrong);
  // Files tell whole units.
  if (cost / kUnit != solution.cost / kUnit && wrong.empty()) {
    wrong.push_back(
        fmt::format("the cost is {}, told was {}", cost / kUnit, solution.cost / kUnit));
  }
  return wrong;
}

Money cost_of(const Problem& problem, const ToldSolution& solution) {
  std::vector<std::string> wrong;
  std::vector<int> served(2 * problem.tasks.size(), 0);
  return walk(problem, solution, served, wrong);
}

}  // namespace penstock::booking::dispatch
