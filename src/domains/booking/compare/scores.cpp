#include "penstock/domains/booking/compare/scores.h"

#include <algorithm>
#include <cmath>

#include "penstock/core/rollout/shards.h"

namespace penstock::booking {
namespace {

Interval interval_of(const Moments& moments) {
  if (moments.count < 2) { return {moments.mean, moments.mean, moments.mean}; }
  const double deviation = std::sqrt(moments.m2 / (moments.count - 1));
  const double half = 1.96 * deviation / std::sqrt(moments.count);
  return {moments.mean, moments.mean - half, moments.mean + half};
}

/// When service begins at each node of a route that starts as early as it may.
void start_times(const Instance& instance, const std::vector<std::int32_t>& route,
                 std::vector<Seconds>& start) {
  Seconds time = instance.nodes[0].window.earliest;
  std::int32_t at = 0;
  for (const std::int32_t next : route) {
    const Node& node = instance.nodes[next];
    time += (at == 0 ? 0 : instance.nodes[at].service) + instance.duration_of(at, next);
    time = std::max(time, node.window.earliest);
    start[next] = time;
    at = next;
  }
}

}  // namespace

Interval mean_of(std::span<const DayScore> days, const Number& number) {
  Moments moments;
  for (const DayScore& day : days) { moments.add(number(day)); }
  return interval_of(moments);
}

Interval paired_difference(std::span<const DayScore> days, std::span<const DayScore> versus,
                           const Number& number) {
  Moments moments;
  for (std::size_t i = 0; i < std::min(days.size(), versus.size()); ++i) {
    moments.add(number(days[i]) - number(versus[i]));
  }
  return interval_of(moments);
}

double quantile(std::vector<double>& numbers, double share) {
  if (numbers.empty()) { return 0; }
  std::ranges::sort(numbers);
  const auto place = static_cast<std::size_t>(share * numbers.size());
  return numbers[std::min(place, numbers.size() - 1)];
}

void score_plan(const Instance& instance, const Plan& plan, DayScore& score) {
  std::vector<Seconds> start(instance.num_nodes(), 0);
  Moments ratio;
  for (const std::vector<std::int32_t>& route : plan.routes) {
    if (route.empty()) { continue; }
    ++score.vehicles;
    start_times(instance, route, start);
    std::int32_t at = 0;
    for (const std::int32_t next : route) {
      score.cost += instance.distance_of(at, next);
      score.driven_s += instance.duration_of(at, next);
      at = next;
    }
    score.cost += instance.distance_of(at, 0);
    score.driven_s += instance.duration_of(at, 0);
    const std::int32_t first = route.front();
    const Seconds leaves = start[first] - instance.duration_of(0, first);
    const Seconds returns = start[at] + instance.nodes[at].service + instance.duration_of(at, 0);
    score.out_s += returns - leaves;
    for (const std::int32_t node : route) {
      const bool pickup = instance.mode == Mode::ride && (node - 1) % 2 == 0;
      const Seconds direct = pickup ? instance.duration_of(node, node + 1) : 0;
      if (direct == 0) { continue; }
      const std::size_t n = node;
      ratio.add(static_cast<double>(start[n + 1] - start[n] - instance.nodes[n].service) / direct);
    }
  }
  score.ride_ratio = ratio.mean;
}

}  // namespace penstock::booking
