#include "domains/booking/dispatch/ruin.h"

#include <algorithm>
#include <utility>

namespace penstock::booking::dispatch {
namespace {

constexpr std::size_t kMostNear = 400;

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
                const StringSizes& sizes, Random& random, std::vector<std::int32_t>& removed) {
  removed.clear();
  double stops = 0;
  double used = 0;
  for (const Route& route : routes) {
    stops += route.num_stops();
    used += route.num_stops() > 0 ? 1 : 0;
  }
  const auto centre = ordinal(random.below(ordinal(problem_.tasks.size())));
  if (stops == 0 || problem_.tasks[index(centre)].gone) { return; }
  StringRound round(sizes, stops / used, random);
  for (const std::int32_t task : near(centre)) {
    const std::int32_t vehicle = vehicle_of[index(task)];
    if (round.strings == 0) { break; }
    if (vehicle < 0 || ruined_[index(vehicle)] != 0) { continue; }
    ruined_[index(vehicle)] = 1;
    take_string(routes[index(vehicle)], task, round.max_length, random, removed);
    --round.strings;
  }
  for (const std::int32_t task : removed) { taken_[index(task)] = 0; }
  std::fill(ruined_.begin(), ruined_.end(), 0);
}

void Ruin::take_string(const Route& route, std::int32_t task, double max_length, Random& random,
                       std::vector<std::int32_t>& removed) {
  const StringDraw drawn(route.num_stops(), max_length, random);
  const std::int32_t stops = problem_.tasks[index(task)].num_stops();
  const std::int32_t stop = 2 * task + drawn_between(0, stops - 1, random);
  std::int32_t at = 1;
  while (route.visits[index(at)].stop != stop) { ++at; }
  drawn.around(at, random, [&](std::int32_t place) { take(route, index(place), removed); });
}

void Ruin::take(const Route& route, std::size_t visit, std::vector<std::int32_t>& removed) {
  const std::int32_t task = route.visits[visit].stop / 2;
  if (taken_[index(task)] != 0 || is_frozen(route, task)) { return; }
  taken_[index(task)] = 1;
  removed.push_back(task);
}

}  // namespace penstock::booking::dispatch
