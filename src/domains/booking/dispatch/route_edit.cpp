#include <algorithm>
#include <limits>
#include <vector>

#include "domains/booking/dispatch/parts.h"
#include "penstock/core/base/random.h"

namespace penstock::booking::dispatch {
namespace {

/// Breaks from this one on, in this gap or later, now follow one visit more.
void shift_breaks(Route& route, std::int32_t first, std::int32_t by) {
  for (std::size_t b = index(first); b < route.break_after.size(); ++b) {
    route.break_after[b] += by;
  }
}

void put_visit(const Problem& problem, Route& route, std::int32_t stop, std::int32_t after,
               std::int32_t breaks) {
  const Visit visit{.stop = stop, .place = stop_of(problem, stop).place};
  route.visits.insert(route.visits.begin() + after + 1, visit);
  shift_breaks(route, breaks, 1);
}

void drop_visit(Route& route, std::size_t at) {
  route.visits.erase(route.visits.begin() + ordinal(at));
  for (std::int32_t& after : route.break_after) {
    if (index(after) >= at) { --after; }
  }
  if (at <= index(route.frozen)) { --route.frozen; }
}

/// Where a break may go.
struct Gaps {
  std::int32_t low = 0;
  std::int32_t high = 0;
};

Gaps gaps_of(const Route& route, std::size_t b) {
  const bool is_last = b + 1 == route.break_after.size();
  return {.low = b == 0 ? route.frozen : route.break_after[b - 1],
          .high = is_last ? ordinal(route.num_gaps()) - 1 : route.break_after[b + 1]};
}

/// How little room is left for others, over all visits.
Time tightness(const Route& route) {
  Time sum = 0;
  for (const Visit& visit : route.visits) { sum += visit.start - visit.latest; }
  return sum;
}

/// Tries one break in all gaps between its neighbours; keeps the one that leaves the most room, or
/// one drawn. Where none fits it stays.
void move_break(const Problem& problem, Route& route, std::size_t b, Random* random) {
  const Gaps gaps = gaps_of(route, b);
  std::int32_t best = route.break_after[b];
  Time least = std::numeric_limits<Time>::max();
  std::uint32_t fitting = 0;
  for (std::int32_t gap = gaps.low; gap <= gaps.high; ++gap) {
    route.break_after[b] = gap;
    rebuild(problem, route);
    if (!keeps_promises(problem, route)) { continue; }
    ++fitting;
    const Time tight = tightness(route);
    if (random != nullptr ? random->below(fitting) == 0 : tight < least) {
      best = gap;
      least = tight;
    }
  }
  route.break_after[b] = best;
  rebuild(problem, route);
}

}  // namespace

bool keeps_promises(const Problem& problem, const Route& route) {
  if (!route.feasible || !route.limited_rides) { return route.feasible; }
  std::vector<Time> starts(route.visits.size(), -kForever);
  return settle_rides(problem, route, starts);
}

void insert(const Problem& problem, Route& route, std::int32_t task, const Placement& where) {
  put_visit(problem, route, 2 * task, where.after, where.breaks);
  if (problem.tasks[index(task)].is_shipment) {
    put_visit(problem, route, 2 * task + 1, where.after_second + 1, where.breaks_second);
  }
  rebuild(problem, route);
}

void erase(const Problem& problem, Route& route, std::int32_t task) {
  for (std::size_t k = route.visits.size(); k-- > 0;) {
    if (route.visits[k].stop >= 0 && route.visits[k].stop / 2 == task) { drop_visit(route, k); }
  }
  rebuild(problem, route);
}

namespace {

/// Breaks from the b-th on, the one before it taken after visit `low`.
bool spread_from(const Problem& problem, Route& route, std::size_t b, std::int32_t low,
                 int& trials) {
  if (b == route.break_after.size()) {
    rebuild(problem, route);
    return route.feasible;
  }
  for (auto gap = low; index(gap) < route.num_gaps() && trials > 0; ++gap) {
    --trials;
    std::fill(route.break_after.begin() + ordinal(b), route.break_after.end(), gap);
    if (spread_from(problem, route, b + 1, gap, trials)) { return true; }
  }
  return false;
}

}  // namespace

bool spread_breaks(const Problem& problem, Route& route) {
  constexpr int kTrials = 10'000;
  int trials = kTrials;
  return spread_from(problem, route, 0, 0, trials);
}

void move_breaks(const Problem& problem, Route& route, Random* random) {
  for (std::size_t b = 0; b < route.break_after.size(); ++b) {
    move_break(problem, route, b, random);
  }
}

}  // namespace penstock::booking::dispatch
