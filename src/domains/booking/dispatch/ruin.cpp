#include "domains/booking/dispatch/ruin.h"

#include <algorithm>
#include <utility>

namespace penstock::booking::dispatch {
namespace {

constexpr double kSplitRate = 0.5;
constexpr double kWidenRate = 0.01;
constexpr std::size_t kMostNear = 400;

std::int32_t drawn_between(std::int32_t low, std::int32_t high, Random& random) {
  return low + random.below(high - low + 1);
}

/// A pickup that is under way holds its delivery too.
bool is_frozen(const Route& route, std::int32_t task) {
  for (std::int32_t k = 1; k <= route.frozen; ++k) {
    if (route.visits[index(k)].stop / 2 == task) { return true; }
  }
  return false;
}

}  // namespace

/// The nearest that two tasks come, there and back, as the first vehicle drives.
double Ruin::closeness(const Task& a, const Task& b) const {
  double least = 1e18;
  const Vehicle& vehicle = problem_.vehicles[0];
  for (std::int32_t i = 0; i < a.num_stops(); ++i) {
    for (std::int32_t j = 0; j < b.num_stops(); ++j) {
      const std::int32_t from = a.stops[index(i)].place;
      const std::int32_t to = b.stops[index(j)].place;
      const Leg there = problem_.leg(vehicle, from, to);
      const Leg back = problem_.leg(vehicle, to, from);
      least = std::min(least, 1.0 * there.seconds + back.seconds);
    }
  }
  return least;
}

const std::vector<std::int32_t>& Ruin::near(std::int32_t task) {
  std::vector<std::int32_t>& list = near_[index(task)];
  if (!list.empty()) { return list; }
  std::vector<std::pair<double, std::int32_t>> ranked;
  for (std::size_t t = 0; t < problem_.tasks.size(); ++t) {
    if (problem_.tasks[t].gone) { continue; }
    const bool same = ordinal(t) == task;
    ranked.emplace_back(same ? -1 : closeness(problem_.tasks[index(task)], problem_.tasks[t]),
                        ordinal(t));
  }
  const std::size_t most = std::min(kMostNear, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + ordinal(most), ranked.end());
  for (std::size_t i = 0; i < most; ++i) { list.push_back(ranked[i].second); }
  return list;
}

void Ruin::pick(std::span<const Route> routes, std::span<const std::int32_t> vehicle_of,
                const RuinSizes& sizes, Random& random, std::vector<std::int32_t>& removed) {
  removed.clear();
  double stops = 0;
  double used = 0;
  for (const Route& route : routes) {
    stops += route.num_stops();
    used += route.num_stops() > 0 ? 1 : 0;
  }
  const auto centre = ordinal(random.below(ordinal(problem_.tasks.size())));
  if (stops == 0 || problem_.tasks[index(centre)].gone) { return; }
  const double max_length = std::min(sizes.longest, stops / used);
  const double max_strings = 4 * sizes.mean_removed / (1 + max_length) - 1;
  auto strings = static_cast<std::int32_t>(random.uniform(1, max_strings + 1));
  for (const std::int32_t task : near(centre)) {
    const std::int32_t vehicle = vehicle_of[index(task)];
    if (strings == 0) { break; }
    if (vehicle < 0 || ruined_[index(vehicle)] != 0) { continue; }
    ruined_[index(vehicle)] = 1;
    take_string(routes[index(vehicle)], task, max_length, random, removed);
    --strings;
  }
  for (const std::int32_t task : removed) { taken_[index(task)] = 0; }
  std::fill(ruined_.begin(), ruined_.end(), 0);
}

void Ruin::take_string(const Route& route, std::int32_t task, double max_length, Random& random,
                       std::vector<std::int32_t>& removed) {
  const std::int32_t size = route.num_stops();
  const double longest = std::min<double>(size, max_length);
  const auto length = std::min(size, static_cast<std::int32_t>(random.uniform(1, longest + 1)));
  std::int32_t spared = 0;  // a gap inside the string that stays in the route
  if (length > 1 && length < size && random.uniform() < kSplitRate) {
    spared = 1;
    while (length + spared < size && random.uniform() < kWidenRate) { ++spared; }
  }
  const std::int32_t stops = problem_.tasks[index(task)].num_stops();
  const std::int32_t stop = 2 * task + drawn_between(0, stops - 1, random);
  std::int32_t at = 1;
  while (route.visits[index(at)].stop != stop) { ++at; }
  const std::int32_t whole = length + spared;
  const std::int32_t begin =
      drawn_between(std::max(1, at - whole + 1), std::min(at, size - whole + 1), random);
  const std::int32_t gap = spared == 0 ? whole : drawn_between(1, length - 1, random);
  for (std::int32_t i = 0; i < whole; ++i) {
    if (i < gap || i >= gap + spared) { take(route, index(begin + i), removed); }
  }
}

void Ruin::take(const Route& route, std::size_t visit, std::vector<std::int32_t>& removed) {
  const std::int32_t task = route.visits[visit].stop / 2;
  if (taken_[index(task)] != 0 || is_frozen(route, task)) { return; }
  taken_[index(task)] = 1;
  removed.push_back(task);
}

}  // namespace penstock::booking::dispatch
