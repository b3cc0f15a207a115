#include "domains/booking/slots/future.h"

#include "penstock/domains/booking/routing/roads.h"

namespace penstock::booking {

void Future::imagine(const SlotDay& day, std::uint64_t seed, Now now) {
  day.market().draw_like(day.episode(), seed, drawn_);
  std::size_t first = 0;
  const double passed = day.call().arrival;
  while (first < drawn_.calls.size() && drawn_.calls[first].arrival <= passed) { ++first; }
  build(day, drawn_, first, now);
}

void Future::build(const SlotDay& day, const SlotEpisode& others, std::size_t first_call, Now now) {
  const SlotEpisode& real = day.episode();
  const std::size_t days = day.market().config().days;
  Instance& instance = episode.instance;
  instance.mode = real.instance.mode;
  instance.vehicles = real.instance.vehicles;
  instance.capacity = real.instance.capacity;
  instance.max_ride = real.instance.max_ride;
  instance.unit = real.instance.unit;
  instance.nodes.assign(1, real.instance.nodes[0]);
  instance.points.assign(1, real.instance.points[0]);
  plans.resize(days);
  for (std::size_t d = 0; d < days; ++d) {
    day.routes(d).store(plans[d]);
    std::vector<std::int32_t> moved(real.instance.num_nodes(), 0);
    for (const std::int32_t request : day.served(d)) {
      const std::size_t from = real.instance.first_node(request);
      moved[from] = instance.num_nodes();
      if (instance.mode == Mode::ride) { moved[from + 1] = moved[from] + 1; }
      add_request(real.instance, request);
    }
    for (auto& route : plans[d].routes) {
      for (std::int32_t& node : route) { node = moved[node]; }
    }
  }
  episode.calls.clear();
  const auto add_call = [&](const Instance& from, SlotCall call) {
    add_request(from, call.request);
    call.request = instance.num_requests() - 1;
    episode.calls.push_back(call);
  };
  if (now == Now::first) { add_call(real.instance, day.call()); }
  for (std::size_t i = first_call; i < others.calls.size(); ++i) {
    add_call(others.instance, others.calls[i]);
  }
  if (now == Now::last) { add_call(real.instance, day.call()); }
  fill_matrices(Roads{}, instance);
  episode.expected = real.expected;
  episode.side = real.side;
  episode.family = real.family;
  episode.seed = real.seed + others.seed;
}

void Future::add_request(const Instance& from, std::int32_t request) {
  const std::size_t first = from.first_node(request);
  for (std::size_t k = 0; k < static_cast<std::size_t>(from.stops_per_request()); ++k) {
    episode.instance.nodes.push_back(from.nodes[first + k]);
    episode.instance.points.push_back(from.points[first + k]);
  }
}

}  // namespace penstock::booking
