#include "domains/booking/slots/outlook.h"

#include <algorithm>
#include <cmath>

namespace penstock::booking {
namespace {

constexpr double kSecondsAnHour = 3600;
constexpr double kMetresAKm = 1000;
constexpr double kCentsOfUnit = 100;
constexpr std::size_t kZones = 2;  // near the depot, and far
constexpr double kOwnWay = 0.5;    // of a ride, beside riders who share it

/// The place among the slots of a day that a wish falls into.
std::size_t wished_slot(const SlotsConfig& config, double hour) {
  const double at = (hour - config.open) / (config.close - config.open) * config.slots;
  return static_cast<std::size_t>(std::clamp(at, 0.0, config.slots - 1.0));
}

struct Way {
  double seconds = 0;
  double metres = 0;
};

/// From a call to the nearest of `count` others, which a vehicle goes on to.
Way hop_of(const SlotEpisode& episode, std::size_t i, std::size_t count) {
  const Instance& instance = episode.instance;
  const std::size_t calls = episode.calls.size();
  const std::int32_t last =
      instance.first_node(episode.calls[i].request) + instance.stops_per_request() - 1;
  Way least;
  for (std::size_t k = 1; k <= std::min(count, calls - 1); ++k) {
    const std::int32_t other = instance.first_node(episode.calls[(i + k) % calls].request);
    const double seconds = instance.duration_of(last, other);
    if (k > 1 && seconds >= least.seconds) { continue; }
    least = {.seconds = seconds, .metres = 1.0 * instance.distance_of(last, other)};
  }
  return least;
}

/// What a sale takes of a vehicle: its stops, a share of the ride, the way to the next one.
Way sale_of(const SlotEpisode& episode, std::size_t i, std::size_t others) {
  const Instance& instance = episode.instance;
  const std::int32_t node = instance.first_node(episode.calls[i].request);
  Way sale = hop_of(episode, i, others);
  sale.seconds += instance.nodes[node].service;
  if (instance.mode == Mode::ride) {
    sale.seconds +=
        kOwnWay * instance.duration_of(node, node + 1) + instance.nodes[node + 1].service;
    sale.metres += kOwnWay * instance.distance_of(node, node + 1);
  }
  return sale;
}

double mean_depot_seconds(const SlotEpisode& episode) {
  double sum = 0;
  for (const SlotCall& call : episode.calls) {
    sum += episode.instance.duration_of(0, episode.instance.first_node(call.request));
  }
  return sum / episode.calls.size();
}

}  // namespace

void Outlook::imagine(const SlotDay& day, std::uint64_t seed) {
  constexpr double kCalls = 120;
  constexpr double kSales = 0.6;  // of the calls, about
  const SlotMarket& market = day.market();
  const SlotsConfig& config = market.config();
  const double expected = day.episode().expected;
  kinds.assign(config.slots * kZones, {});
  depot_hours = 0;
  depot_km = 0;
  const std::size_t draws = std::ceil(std::min(kCalls / expected, 8.0));
  double calls = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    market.draw_like(day.episode(), episode_seed(seed, i, 0), drawn_);
    add_calls(market, kSales * expected / market.num_slots());
    calls += drawn_.calls.size();
  }
  depot_hours /= calls;
  depot_km /= calls;
  std::erase_if(kinds, [](const CallKind& kind) { return kind.share == 0; });
  for (CallKind& kind : kinds) {
    kind.revenue /= kind.share;
    kind.hours /= kind.share;
    kind.km /= kind.share;
    kind.share /= calls;
    SlotCall usual;
    const double width = (config.close - config.open) / config.slots;
    usual.hour = config.open + (kind.wished + 0.5) * width;
    kind.model = market.model_of(usual);
    kind.prior = kind.model.prior();
    kind.merged = kind.model.merged(kind.prior);
  }
}

void Outlook::add_calls(const SlotMarket& market, double apart) {
  const Instance& instance = drawn_.instance;
  const auto others = static_cast<std::size_t>(std::max(1.0, std::round(apart)));
  const double far = mean_depot_seconds(drawn_);
  for (std::size_t i = 0; i < drawn_.calls.size(); ++i) {
    const SlotCall& call = drawn_.calls[i];
    const std::int32_t node = instance.first_node(call.request);
    const std::size_t slot = wished_slot(market.config(), call.hour);
    const Seconds depot = instance.duration_of(0, node);
    CallKind& kind = kinds[slot * kZones + (depot > far ? 1 : 0)];
    const Way sale = sale_of(drawn_, i, others);
    kind.wished = slot;
    kind.share += 1;
    kind.revenue += call.revenue / kCentsOfUnit;
    kind.hours += sale.seconds / kSecondsAnHour;
    kind.km += sale.metres / kMetresAKm;
    depot_hours += depot / kSecondsAnHour;
    depot_km += instance.distance_of(0, node) / kMetresAKm;
  }
}

void VehicleHours::add(const SlotDay& day, std::int32_t service_day,
                       std::span<const std::int32_t> nodes, double sign) {
  if (nodes.empty()) { return; }
  const Instance& instance = day.episode().instance;
  const SlotMarket& market = day.market();
  opened[service_day] += sign;
  const Seconds first = departure(instance, nodes) + instance.duration_of(0, nodes.front());
  Seconds now = first;
  std::int32_t from = nodes.front();
  for (const std::int32_t at : nodes) {
    const Node& node = instance.nodes[at];
    const Seconds arrive = now + (at == from ? 0 : instance.duration_of(from, at));
    const Seconds begin = std::max(arrive, node.window.earliest);
    add_span(market, service_day, now, arrive, busy, sign);
    now = begin + node.service;
    add_span(market, service_day, begin, now, busy, sign);
    from = at;
  }
  add_span(market, service_day, first, now, paid, sign);
}

void VehicleHours::add_span(const SlotMarket& market, std::int32_t service_day, Seconds from,
                            Seconds to, std::array<double, kMaxSlots>& into, double sign) const {
  const double begin = from / kSecondsAnHour;
  const double end = to / kSecondsAnHour;
  for (std::size_t s = 0; s < market.num_slots(); ++s) {
    const SlotTime& slot = market.slots()[s];
    if (slot.day != service_day) { continue; }
    into[s] += sign * std::max(0.0, std::min(end, slot.to) - std::max(begin, slot.from));
  }
}

}  // namespace penstock::booking
