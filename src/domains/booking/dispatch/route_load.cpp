#include <algorithm>
#include <limits>

#include "domains/booking/dispatch/parts.h"

namespace penstock::booking::dispatch {
namespace {

/// What a stop changes on board. Deliveries of jobs are on board from the start.
std::int64_t change_at(const Problem& problem, const Visit& visit, std::size_t d) {
  if (visit.stop < 0) { return 0; }
  const Task& task = task_of(problem, visit.stop);
  if (!task.is_shipment) { return std::int64_t{task.pickup[d]} - task.delivery[d]; }
  return visit.stop % 2 == 0 ? task.pickup[d] : -task.pickup[d];
}

std::int64_t load_at_start(const Problem& problem, const Route& route, std::size_t d) {
  std::int64_t sum = 0;
  for (const Visit& visit : route.visits) {
    if (visit.stop < 0) { continue; }
    const Task& task = task_of(problem, visit.stop);
    sum += task.is_shipment ? 0 : task.delivery[d];
  }
  return sum;
}

/// What a leg may carry: less where a break on it is not to be taken with a full load.
std::int64_t limit_of(const Vehicle& vehicle, const Route& route, std::size_t leg, std::size_t d) {
  std::int64_t limit = vehicle.capacity[d];
  const std::int32_t last = route.visits[leg + 1].first_break;
  for (std::int32_t b = route.visits[leg].first_break; b < last; ++b) {
    const Break& pause = vehicle.breaks[index(b)];
    if (pause.limits_load) { limit = std::min<std::int64_t>(limit, pause.max_load[d]); }
  }
  return limit;
}

}  // namespace

void fill_loads(const Problem& problem, Route& route) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  const std::size_t amounts = index(problem.num_amounts);
  const std::size_t legs = route.num_gaps();
  route.load.resize(legs * amounts);
  route.room_before.resize(legs * amounts);
  route.room_after.resize(legs * amounts);
  for (std::size_t d = 0; d < amounts; ++d) {
    std::int64_t load = load_at_start(problem, route, d);
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = 0; k < legs; ++k) {
      load += change_at(problem, route.visits[k], d);
      route.load[k * amounts + d] = load;
      room = std::min(room, limit_of(vehicle, route, k, d) - load);
      route.room_before[k * amounts + d] = room;
    }
    room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = legs; k-- > 0;) {
      room = std::min(room, limit_of(vehicle, route, k, d) - route.load[k * amounts + d]);
      route.room_after[k * amounts + d] = room;
    }
  }
}

}  // namespace penstock::booking::dispatch
