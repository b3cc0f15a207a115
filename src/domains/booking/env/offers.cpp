#include "penstock/domains/booking/env/offers.h"

namespace penstock::booking {
namespace {

Window moved(Window window, Seconds start, Seconds end) {
  return {.earliest = window.earliest + start, .latest = window.latest + end};
}

}  // namespace

RequestWindows windows_of(const Instance& instance, std::int32_t request) {
  const std::size_t first = instance.first_node(request);
  if (instance.mode == Mode::deliver) { return {instance.nodes[first].window, Window{}}; }
  return {instance.nodes[first].window, instance.nodes[first + 1].window};
}

RequestWindows offered_windows(const RequestWindows& wished, Mode mode, OfferKind kind,
                               std::int32_t action) {
  const auto [earlier, later] = offered_time(action);
  if (mode == Mode::deliver) {
    const Seconds shift = later - earlier;
    return {kind == OfferKind::shift ? moved(wished[0], shift, shift)
                                     : moved(wished[0], -earlier, later),
            wished[1]};
  }
  if (kind == OfferKind::shift) {
    return {moved(wished[0], -earlier, -earlier), moved(wished[1], later, later)};
  }
  return {moved(wished[0], -earlier, later), moved(wished[1], -earlier, later)};
}

RequestWindows offered_windows(const Instance& instance, std::int32_t request, OfferKind kind,
                               std::int32_t action) {
  return offered_windows(windows_of(instance, request), instance.mode, kind, action);
}

void promise(Instance& instance, std::int32_t request, const RequestWindows& windows) {
  const std::size_t first = instance.first_node(request);
  for (std::int32_t k = 0; k < instance.stops_per_request(); ++k) {
    instance.nodes[first + k].window = windows[k];
  }
}

}  // namespace penstock::booking
