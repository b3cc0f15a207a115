#include "penstock/domains/booking/slots/market.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/shuffle.h"

namespace penstock::booking {
namespace {

constexpr std::uint32_t kMarketOwner = 0x736c6f74;
constexpr double kHour = 3600;
constexpr double kMinute = 60;
constexpr double kCents = 100;
constexpr double kSpread = 1.7320508075688772;  // uniform with a Poisson's variance

Cents cents(double money) { return std::llround(money * kCents); }

void check(const SlotsConfig& config) {
  const std::int64_t all = config.days * config.slots;
  if (std::cmp_greater(all, kMaxSlots)) {
    throw UsageError(fmt::format("env.days = {} times env.slots = {} are {} slots: at most {} fit",
                                 config.days, config.slots, all, kMaxSlots));
  }
  if (config.close <= config.open) {
    throw UsageError(
        fmt::format("env.close = {} is not after env.open = {}", config.close, config.open));
  }
  if (config.customers_least > config.customers || config.vehicles_least > config.vehicles) {
    throw UsageError(
        "env.customers_least and env.vehicles_least must not be above env.customers and "
        "env.vehicles");
  }
}

/// The most calls where `expected` are.
std::int64_t most_of(std::int64_t expected) {
  return expected + static_cast<std::int64_t>(kSpread * std::sqrt(expected));
}

std::int64_t draw_between(std::int64_t least, std::int64_t most, Random& random) {
  const std::int64_t low = least == 0 ? most : least;
  return low + random.below(most - low + 1);
}

}  // namespace

SlotMarket::SlotMarket(const SlotsConfig& config)
    : config_(config),
      prices_{.km = cents(config.per_km),
              .hour = cents(config.per_hour),
              .vehicle = cents(config.per_vehicle),
              .ride_minute = cents(config.per_ride_minute),
              .lost = cents(config.lost)},
      taste_{.base = config.taste,
             .beta = config.beta,
             .per_rigid_hour = config.rigid_hour,
             .per_free_hour = config.free_hour,
             .per_day = config.later_day},
      most_calls_(most_of(config.customers)) {
  check(config);
  const double width = (config.close - config.open) / config.slots;
  for (std::int32_t day = 0; day < config.days; ++day) {
    for (std::int64_t i = 0; i < config.slots; ++i) {
      const double from = config.open + width * i;
      slots_.push_back({.day = day, .from = from, .to = from + width});
    }
  }
  if (config.family != "mix") {
    add_family(config.family);
    return;
  }
  for (const char* name : {"city", "delivery"}) { add_family(name); }
  add_family(config.file.empty() ? "clustered" : "csv");
}

// A generator makes days of one size, and a day's matrices grow with its square: generators of a
// few sizes keep small episodes cheap.
void SlotMarket::add_family(const std::string& name) {
  constexpr std::int64_t kSmallest = 16;
  const bool ride = name == "city";
  const double service = config_.service > 0 ? config_.service : (ride ? 1 : 8);
  Family family;
  for (std::int64_t size = kSmallest;
       family.requests.empty() || family.requests.back() < most_calls_; size *= 2) {
    const std::int32_t requests = std::min(size, most_calls_);
    family.requests.push_back(requests);
    family.sizes.push_back(
        make_generator(name, {.mode = ride ? Mode::ride : Mode::deliver,
                              .requests = requests,
                              .service = static_cast<Seconds>(std::lround(service * 60)),
                              .max_ride = static_cast<Seconds>(config_.max_ride) * 60,
                              .file = name == "csv" ? config_.file : std::string()}));
  }
  families_.push_back(std::move(family));
}

double SlotMarket::cutoff(std::int32_t day) const {
  const double days = config_.days;
  return (days + day) / (2 * days - 1);
}

void SlotMarket::draw(std::uint64_t seed, SlotEpisode& into) const {
  Random random({.seed = seed, .owner = kMarketOwner});
  into.family = random.below(families_.size());
  into.expected = draw_between(config_.customers_least, config_.customers, random);
  into.instance.vehicles = draw_between(config_.vehicles_least, config_.vehicles, random);
  draw_like(into, seed, into);
}

void SlotMarket::draw_like(const SlotEpisode& like, std::uint64_t seed, SlotEpisode& into) const {
  Random random({.seed = seed, .owner = kMarketOwner, .episode = 1});
  into.seed = seed;
  into.family = like.family;
  into.expected = like.expected;
  const std::int32_t vehicles = like.instance.vehicles;
  const double spread = random.uniform(-kSpread, kSpread) * std::sqrt(into.expected);
  const auto calls = std::clamp<std::int64_t>(std::llround(into.expected + spread), 1, most_calls_);
  const Family& family = families_[into.family];
  std::size_t size = 0;
  while (family.requests[size] < calls) { ++size; }
  family.sizes[size]->make(seed, into.instance);
  into.side = family.sizes[size]->side();
  into.instance.vehicles = vehicles;
  into.calls.resize(calls);
  draw_calls(random, into);
}

void SlotMarket::draw_calls(Random& random, SlotEpisode& into) const {
  Instance& instance = into.instance;
  thread_local std::vector<std::int32_t> order;
  order.resize(instance.num_requests());
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);  // a list's lines come in the list's order
  for (std::size_t i = 0; i < into.calls.size(); ++i) {
    SlotCall& call = into.calls[i];
    call.request = order[i];
    call.arrival = random.uniform();
    call.revenue = cents(config_.revenue * (0.5 + random.uniform()));
    const std::int32_t node = instance.first_node(call.request);
    call.hour = instance.nodes[node].window.earliest / kHour;
    draw_person(random, call);
    if (instance.max_ride > 0) {
      const Seconds direct = instance.duration_of(node, node + 1);
      instance.max_ride = std::max(instance.max_ride, direct);
    }
  }
  std::ranges::sort(into.calls, {}, &SlotCall::arrival);
}

void SlotMarket::draw_person(Random& random, SlotCall& call) const {
  const ChoiceModel model = model_of(call);
  call.belief = model.prior();
  call.type = random.below(model.num_segments());
  const auto gumbel = [&](std::array<double, kMaxSlots + 1>& noise) {
    for (std::size_t s = 0; s <= num_slots(); ++s) {
      noise[s] = -std::log(-std::log1p(-random.uniform()));
    }
  };
  constexpr std::array<double, kMaxSlots> kNoFees{};
  const auto seen = random.below(config_.history + 1);
  for (std::uint32_t i = 0; i < seen; ++i) {
    gumbel(call.gumbel);
    model.update(call.belief, kNoFees, model.choose(call.type, kNoFees, call.gumbel));
  }
  gumbel(call.gumbel);
}

std::array<Window, 2> SlotMarket::windows_of(const Instance& instance, std::int32_t request,
                                             std::size_t slot) const {
  const Window first{.earliest = static_cast<Seconds>(slots_[slot].from * kHour),
                     .latest = static_cast<Seconds>(slots_[slot].to * kHour)};
  if (instance.mode == Mode::deliver) { return {first, first}; }
  const std::int32_t node = instance.first_node(request);
  const Seconds service = instance.nodes[node].service;
  const Seconds direct = instance.duration_of(node, node + 1);
  return {
      first,
      {.earliest = first.earliest + service + direct,
       .latest = first.latest + service + direct + static_cast<Seconds>(config_.detour * kMinute)}};
}

Cents FeeRule::rounded(double fee) const {
  return cents(std::round(std::clamp(fee, -most, most) / step) * step);
}

}  // namespace penstock::booking
