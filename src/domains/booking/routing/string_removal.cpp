#include "domains/booking/routing/string_removal.h"

#include <algorithm>
#include <utility>

#include "domains/booking/routing/index.h"

namespace penstock::booking {
namespace {

/// The nearest that two requests come, there and back.
Cost closeness(const Instance& instance, std::int32_t a, std::int32_t b) {
  Cost least = Insertion::kNowhere;
  for (std::int32_t i = 0; i < instance.stops_per_request(); ++i) {
    for (std::int32_t j = 0; j < instance.stops_per_request(); ++j) {
      const std::int32_t from = instance.first_node(a) + i;
      const std::int32_t to = instance.first_node(b) + j;
      least =
          std::min(least, Cost{instance.distance_of(from, to)} + instance.distance_of(to, from));
    }
  }
  return least;
}

}  // namespace

StringRemoval::StringRemoval(const Instance& instance)
    : instance_(instance),
      taken_(index(instance.num_requests()), 0),
      ruined_(index(instance.vehicles), 0) {
  const std::int32_t count = instance.num_requests();
  std::vector<std::pair<Cost, std::int32_t>> ranked;
  near_.reserve(index(count) * index(count));
  for (std::int32_t a = 0; a < count; ++a) {
    ranked.clear();
    for (std::int32_t b = 0; b < count; ++b) {
      ranked.emplace_back(a == b ? -1 : closeness(instance, a, b), b);
    }
    std::sort(ranked.begin(), ranked.end());
    for (const auto& [far, b] : ranked) { near_.push_back(b); }
  }
}

void StringRemoval::pick(const RouteSet& routes, const StringSizes& sizes, Random& random,
                         std::vector<std::int32_t>& removed) {
  removed.clear();
  std::size_t stops = 0;
  std::size_t used = 0;
  for (std::int32_t v = 0; v < routes.num_vehicles(); ++v) {
    stops += routes.stops(v).size() - 2;
    used += routes.is_empty(v) ? 0 : 1;
  }
  if (stops == 0) { return; }
  StringRound round(sizes, static_cast<double>(stops) / used, random);
  const auto count = index(instance_.num_requests());
  const std::size_t centre = random.below(count);
  for (std::size_t k = 0; k < count && round.strings > 0; ++k) {
    const std::int32_t request = near_[centre * count + k];
    const std::int32_t vehicle = routes.vehicle_of(request);
    if (vehicle < 0 || ruined_[index(vehicle)] != 0) { continue; }
    ruined_[index(vehicle)] = 1;
    take_string(routes, vehicle, request, round.max_length, random, removed);
    --round.strings;
  }
  for (const std::int32_t request : removed) { taken_[index(request)] = 0; }
  std::fill(ruined_.begin(), ruined_.end(), 0);
}

void StringRemoval::take_string(const RouteSet& routes, std::int32_t vehicle, std::int32_t request,
                                double max_length, Random& random,
                                std::vector<std::int32_t>& removed) {
  const std::span<const Stop> stops = routes.stops(vehicle);
  const std::int32_t size = stops.size() - 2;
  const StringDraw drawn(size, max_length, random);
  const std::int32_t node =
      instance_.first_node(request) + drawn_between(0, instance_.stops_per_request() - 1, random);
  std::int32_t at = 1;
  while (stops[index(at)].node != node) { ++at; }
  drawn.around(at, random, [&](std::int32_t place) { take(stops[index(place)].node, removed); });
}

void StringRemoval::take(std::int32_t node, std::vector<std::int32_t>& removed) {
  const std::int32_t request = instance_.request_of(node);
  if (taken_[index(request)] != 0) { return; }
  taken_[index(request)] = 1;
  removed.push_back(request);
}

}  // namespace penstock::booking
