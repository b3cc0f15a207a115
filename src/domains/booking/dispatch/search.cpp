#include "domains/booking/dispatch/search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "domains/booking/dispatch/likeness.h"
#include "domains/booking/dispatch/scratch.h"
#include "penstock/domains/booking/routing/blink.h"

namespace penstock::booking::dispatch {
namespace {

constexpr StringSizes kServeMore{.longest = 10, .mean_removed = 10};
constexpr StringSizes kCheaper{.longest = 20, .mean_removed = 15};

/// The rules by which tasks are put back.
enum Rule : std::uint32_t { kAnyhow, kHeavy, kFarther, kNearer, kTight, kEarlier, kLater };

}  // namespace

Search::Search(const Problem& problem, Routing start, std::uint64_t seed, bool tables)
    : problem_(problem),
      now_(std::move(start)),
      ruin_(problem),
      random_(seed),
      saved_(problem.vehicles.size()),
      absences_(problem.tasks.size(), 1) {
  sort_into_kinds();
  table_of_.assign(problem.vehicles.size(), nullptr);
  if (tables) { fill_tables(); }
  for (std::size_t t = 0; t < problem.tasks.size(); ++t) {
    if (now_.vehicle_of[t] < 0 && !problem.tasks[t].gone) { absent_.push_back(ordinal(t)); }
  }
  for (const Route& route : now_.routes) { cost_ += route.cost; }
  best_ = now_;
  best_rank_ = rank();
}

void Search::fill_tables() {
  std::vector<std::size_t> first;  // vehicles that are the first of their way of driving
  std::vector<std::size_t> table(problem_.vehicles.size());
  for (std::size_t v = 0; v < problem_.vehicles.size(); ++v) {
    const auto same = std::find_if(first.begin(), first.end(), [&](std::size_t other) {
      return drive_alike(problem_.vehicles[v], problem_.vehicles[other]);
    });
    table[v] = same - first.begin();
    if (same == first.end()) { first.push_back(v); }
  }
  for (const std::size_t v : first) {
    tables_.push_back(make_table(problem_, problem_.vehicles[v]));
  }
  for (std::size_t v = 0; v < table.size(); ++v) { table_of_[v] = &tables_[table[v]]; }
}

/// Of vehicles that are alike only one empty one is tried, and frozen ones are like no other.
void Search::sort_into_kinds() {
  std::vector<std::size_t> first;
  for (std::size_t v = 0; v < problem_.vehicles.size(); ++v) {
    const bool own = now_.routes[v].not_before > -kForever;
    const auto same = std::find_if(first.begin(), first.end(), [&](std::size_t other) {
      return !own && now_.routes[other].not_before <= -kForever &&
             are_alike(problem_, problem_.vehicles[v], problem_.vehicles[other]);
    });
    kind_.push_back(ordinal(same - first.begin()));
    if (same == first.end()) { first.push_back(v); }
  }
  seen_empty_.assign(first.size(), -1);
}

double Search::cost_per_stop() const {
  double stops = 0;
  for (const Route& route : now_.routes) { stops += route.num_stops(); }
  return static_cast<double>(std::max<Money>(1, cost_)) / std::max(1.0, stops);
}

void Search::construct() {
  removed_ = absent_;
  absent_.clear();
  still_absent_.clear();
  std::stable_sort(removed_.begin(), removed_.end(), [&](std::int32_t a, std::int32_t b) {
    return problem_.tasks[index(a)].priority > problem_.tasks[index(b)].priority;
  });
  recreate();
  accept();
}

void Search::keep_to_served() {
  absent_.clear();
  best_rank_ = rank();
}

void Search::anneal(Budget& budget, double hot, double cold) {
  const double unit = cost_per_stop();
  const double begin = budget.spent();
  while (budget.step()) {
    const double done = (budget.spent() - begin) / std::max(1e-9, 1 - begin);
    round(unit * hot * std::pow(cold / hot, done));
  }
}

/// Takes tasks out; false when routes are not in time without them, or nothing was taken.
bool Search::ruin(const StringSizes& sizes) {
  ruin_.pick(now_.routes, now_.vehicle_of, sizes, random_, removed_);
  if (removed_.empty() && absent_.empty()) { return false; }
  for (const std::int32_t task : removed_) {
    std::int32_t& vehicle = now_.vehicle_of[index(task)];
    Route& route = now_.routes[index(vehicle)];
    touch(vehicle);
    cost_ -= route.cost;
    erase(problem_, route, task);
    cost_ += route.cost;
    vehicle = -1;
  }
  bool feasible = true;
  for (const std::int32_t vehicle : touched_) {
    Route& route = now_.routes[index(vehicle)];
    feasible = feasible && route.feasible;
    if (!route.break_after.empty() && feasible) { move_breaks(problem_, route, &random_); }
  }
  removed_.insert(removed_.end(), absent_.begin(), absent_.end());
  order();
  still_absent_.clear();
  return feasible;
}

void Search::round(double temperature) {
  const double most = static_cast<double>(cost_) - temperature * std::log1p(-random_.uniform());
  const bool whole = absent_.empty();
  touched_.clear();
  if (!ruin(whole ? kCheaper : kServeMore)) { return roll_back(); }
  for (const std::int32_t task : removed_) {
    if (put_back(task)) {
      // Who serves all goes on doing so, and what costs too much hardly gets cheaper.
      if (whole && static_cast<double>(cost_) >= most) { return roll_back(); }
      continue;
    }
    still_absent_.push_back(task);
    if (whole) { return roll_back(); }
  }
  const std::int64_t more = weight(still_absent_) - weight(absent_);
  for (const std::int32_t task : still_absent_) { ++absences_[index(task)]; }
  if (more < 0 || (more == 0 && static_cast<double>(cost_) < most)) { return accept(); }
  roll_back();
}

void Search::recreate() {
  for (const std::int32_t task : removed_) {
    if (!put_back(task)) { still_absent_.push_back(task); }
  }
}

bool Search::put_back(std::int32_t task) {
  Blink blink{random_, until_blink_};
  Placement best;
  std::fill(seen_empty_.begin(), seen_empty_.end(), -1);
  for (std::size_t v = 0; v < now_.routes.size(); ++v) {
    const Route& route = now_.routes[v];
    if (route.num_stops() == 0) {
      std::int32_t& seen = seen_empty_[index(kind_[v])];
      if (seen >= 0) { continue; }
      seen = task;
    }
    look_for_cheaper(places_, problem_, route, task, blink, best, table_of_[v]);
  }
  if (!best.fits()) { return false; }
  Route& route = now_.routes[index(best.vehicle)];
  touch(best.vehicle);
  cost_ -= route.cost;
  insert(problem_, route, task, best);
  if (!route.break_after.empty()) { move_breaks(problem_, route); }
  cost_ += route.cost;
  now_.vehicle_of[index(task)] = best.vehicle;
  return true;
}

void Search::touch(std::int32_t vehicle) {
  if (std::find(touched_.begin(), touched_.end(), vehicle) != touched_.end()) { return; }
  touched_.push_back(vehicle);
  saved_[index(vehicle)] = now_.routes[index(vehicle)];
}

void Search::roll_back() {
  for (const std::int32_t task : removed_) { now_.vehicle_of[index(task)] = -1; }
  for (const std::int32_t vehicle : touched_) {
    Route& route = now_.routes[index(vehicle)];
    cost_ -= route.cost;
    std::swap(route, saved_[index(vehicle)]);
    cost_ += route.cost;
    for (const Visit& visit : route.visits) {
      if (visit.stop >= 0) { now_.vehicle_of[index(visit.stop) / 2] = vehicle; }
    }
  }
}

/// The routes are the new plan already; what is left is who is absent from it.
void Search::accept() {
  absent_.swap(still_absent_);
  keep_best();
}

void Search::order() {
  constexpr std::array<std::uint32_t, 17> kDraws = {
      kAnyhow,  kAnyhow, kAnyhow, kAnyhow, kHeavy,   kHeavy,   kHeavy, kHeavy, kFarther,
      kFarther, kNearer, kTight,  kTight,  kEarlier, kEarlier, kLater, kLater};
  const std::uint32_t rule = kDraws[random_.below(kDraws.size())];
  sorted_.clear();
  for (const std::int32_t task : removed_) { sorted_.emplace_back(order_key(rule, task), task); }
  std::sort(sorted_.begin(), sorted_.end());
  for (std::size_t i = 0; i < sorted_.size(); ++i) { removed_[i] = sorted_[i].second; }
}

double Search::order_key(std::uint32_t rule, std::int32_t number) {
  const Task& task = problem_.tasks[index(number)];
  const TimeWindows& windows = task.stops[0].windows;
  const Vehicle& vehicle = problem_.vehicles[0];
  const auto seconds = [](Time time) { return static_cast<double>(time); };
  switch (rule) {
    case kHeavy:
      return -1.0 * task.pickup[0] - task.delivery[0];
    case kFarther:
      return -problem_.leg(vehicle, vehicle.start, task.stops[0].place).seconds;
    case kNearer:
      return problem_.leg(vehicle, vehicle.start, task.stops[0].place).seconds;
    case kTight:
      return windows.empty() ? seconds(kForever)
                             : seconds(windows.back().latest - windows.front().earliest);
    case kEarlier:
      return windows.empty() ? 0 : seconds(windows.front().earliest);
    case kLater:
      return windows.empty() ? -seconds(kForever) : -seconds(windows.back().latest);
    default:
      return random_.uniform();
  }
}

std::int64_t Search::weight(const std::vector<std::int32_t>& tasks) const {
  std::int64_t sum = 0;
  for (const std::int32_t task : tasks) {
    sum += absences_[index(task)] * (1 + 10 * problem_.tasks[index(task)].priority);
  }
  return sum;
}

Search::Rank Search::rank() const {
  Rank rank{.absent = absent_.size(), .cost = cost_};
  for (const std::int32_t task : absent_) { rank.priority += problem_.tasks[index(task)].priority; }
  return rank;
}

void Search::keep_best() {
  const Rank rank = this->rank();
  if (!(rank < best_rank_)) { return; }
  best_rank_ = rank;
  best_ = now_;
}

}  // namespace penstock::booking::dispatch
