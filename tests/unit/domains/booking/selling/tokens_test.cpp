#include <doctest/doctest.h>

#include <algorithm>

#include "penstock/domains/booking/selling/plan_view.h"

// What a network is told of real plans is what the env `slots` tells it of the same state: the env
// is the independent source, which knows neither schedules nor forecasts.

namespace penstock::booking::selling {
namespace {

constexpr Seconds kHourSeconds = 3600;

/// Prices that both sides know: by the km alone, in a unit that is large beside the cents that the
/// env rounds to. The env promises the drop-off of a ride, so late here that it binds nobody.
SlotsConfig plain_prices(const char* family, std::int64_t days) {
  SlotsConfig config;
  config.family = family;
  config.customers = 40;
  config.vehicles = 4;
  config.days = days;
  config.per_km = 100;
  config.revenue = 5000;
  config.beta = 0.001;
  config.max_fee = 2500;
  config.fee_step = 0.01;
  config.per_hour = 0;
  config.per_vehicle = 0;
  config.per_ride_minute = 0;
  config.detour = 1440;
  config.rounds = 0;
  return config;
}

dispatch::TimeWindow window_of(const Window& window) {
  return {.earliest = window.earliest, .latest = window.latest};
}
dispatch::TimeWindow window_of(const SlotTime& slot) {
  return {.earliest = static_cast<dispatch::Time>(slot.from * kHourSeconds),
          .latest = static_cast<dispatch::Time>(slot.to * kHourSeconds)};
}

dispatch::Place place_of(std::int32_t node) { return {.row = node}; }

/// The vehicles of a day, with the matrices of the instance.
dispatch::Problem fleet_of(const Instance& instance) {
  dispatch::Problem problem{.num_amounts = 1, .clock = true};
  problem.places.push_back(place_of(0));
  dispatch::Profile& profile = problem.profiles.front();
  profile.rows = static_cast<std::int32_t>(instance.num_nodes());
  profile.seconds.assign(instance.duration.begin(), instance.duration.end());
  profile.metres.assign(instance.distance.begin(), instance.distance.end());
  for (std::int32_t v = 0; v < instance.vehicles; ++v) {
    dispatch::Vehicle vehicle{.id = {.text = std::to_string(v)},
                              .start = 0,
                              .end = 0,
                              .shift = window_of(instance.nodes[0].window),
                              .per_hour = 0,
                              .per_km = 100};
    vehicle.capacity[0] = instance.capacity;
    problem.vehicles.push_back(vehicle);
  }
  return problem;
}

dispatch::Request request_of(const Instance& instance, std::int32_t number) {
  const std::int32_t first = instance.first_node(number);
  const std::size_t at = first;
  dispatch::Request request;
  dispatch::Task& task = request.task;
  task.is_shipment = instance.mode == Mode::ride;
  (task.is_shipment ? task.pickup : task.delivery)[0] = instance.nodes[at].load;
  for (std::size_t k = 0; k < static_cast<std::size_t>(task.num_stops()); ++k) {
    task.stops[k].id = {.text = std::to_string(number)};
    task.stops[k].service = instance.nodes[at + k].service;
    request.places[k] = place_of(first + static_cast<std::int32_t>(k));
  }
  return request;
}

/// The plan of a day, stop by stop.
dispatch::Schedule schedule_of(const SlotDay& day, std::size_t number) {
  const Instance& instance = day.episode().instance;
  dispatch::Problem problem = fleet_of(instance);
  std::vector<std::int32_t> task_of(static_cast<std::size_t>(instance.num_requests()), -1);
  for (const std::int32_t r : day.served(number)) {
    dispatch::Request request = request_of(instance, r);
    request.task.stops[0].windows = {
        window_of(day.market().slots()[static_cast<std::size_t>(day.slot_of(r))])};
    for (std::size_t k = 0; k < static_cast<std::size_t>(request.task.num_stops()); ++k) {
      request.task.stops[k].place = static_cast<std::int32_t>(problem.places.size());
      problem.places.push_back(request.places[k]);
    }
    task_of[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(problem.tasks.size());
    problem.tasks.push_back(request.task);
  }
  std::vector<std::vector<std::int32_t>> stops(problem.vehicles.size());
  for (std::size_t v = 0; v < stops.size(); ++v) {
    for (const Stop& stop : day.routes(number).stops(static_cast<std::int32_t>(v))) {
      if (stop.node == 0) { continue; }
      const std::int32_t r = instance.request_of(stop.node);
      const bool second = stop.node != instance.first_node(r);
      stops[v].push_back(2 * task_of[static_cast<std::size_t>(r)] + (second ? 1 : 0));
    }
  }
  dispatch::Schedule schedule(std::move(problem));
  REQUIRE_FALSE(schedule.load(stops).has_value());
  return schedule;
}

Forecast forecast_of(const SlotDay& day) {
  const SlotsConfig& config = day.market().config();
  const auto days = static_cast<double>(config.days);
  return {.calls = day.episode().expected / days,
          .revenue = config.revenue,
          .opens_h = 24 * days,
          .closes_h = 0,
          .side_km = day.episode().side / 1000,
          .most_fee = config.max_fee,
          .fee_step = config.fee_step};
}

/// The state by way of schedules.
SlotState told_by_schedules(const SlotDay& day) {
  const SlotMarket& market = day.market();
  const auto days = static_cast<std::size_t>(market.config().days);
  const Forecast forecast = forecast_of(day);
  std::vector<PlanView> plans;
  std::vector<SlotPlace> places;
  for (std::size_t d = 0; d < days; ++d) {
    dispatch::Schedule schedule = schedule_of(day, d);
    const dispatch::Request request = request_of(day.episode().instance, day.call().request);
    std::vector<dispatch::TimeWindow> windows;
    for (const SlotTime& slot : market.slots()) {
      if (slot.day != static_cast<std::int32_t>(d)) { continue; }
      places.push_back({.plan = d, .slot = windows.size()});
      windows.push_back(window_of(slot));
    }
    const auto quotes = schedule.quote(request, windows);
    plans.push_back(view_of(schedule, request, windows, quotes, false, forecast));
    plans.back().day = static_cast<std::int32_t>(d);
  }
  const ChoiceModel model = market.model_of(day.call());
  const double horizon_h = 24.0 * static_cast<double>(2 * days - 1);
  return state_of({.model = model,
                   .belief = day.call().belief,
                   .revenue = static_cast<double>(day.call().revenue) / 100,
                   .hours_ahead = forecast.opens_h - horizon_h * day.call().arrival,
                   .ride = day.episode().instance.mode == Mode::ride},
                  plans, places, forecast);
}

struct Told {
  std::array<float, kMaxSlots * kSlotFeatures> tokens{};
  std::array<bool, kMaxSlots * kSlotLevels> legal{};
};

void check_same(SlotDay& day) {
  Told env;
  Told real;
  write_slot_tokens(day, env.tokens, env.legal);
  write_slot_tokens(told_by_schedules(day), real.tokens, real.legal);
  CHECK(env.legal == real.legal);
  for (std::size_t i = 0; i < env.tokens.size(); ++i) {
    INFO("call ", day.num_called(), " slot ", i / kSlotFeatures, " feature ", i % kSlotFeatures);
    CHECK(real.tokens[i] == doctest::Approx(env.tokens[i]).scale(1).epsilon(1e-4));
  }
}

void check_family(const char* family, std::int64_t days) {
  const SlotMarket market(plain_prices(family, days));
  SlotDay day;
  std::int32_t compared = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    day.begin(market, seed);
    while (!day.over()) {
      if (day.call().arrival <= market.cutoff(0)) {
        check_same(day);
        compared += day.tally().sold > 0 ? 1 : 0;
      }
      const SlotOffer offer;  // everything, at no fee
      day.sell(offer.fees, offer.withheld);
    }
  }
  CHECK(compared > 40);
}

}  // namespace

TEST_CASE("a network is told of deliveries what the env tells it") { check_family("delivery", 1); }

TEST_CASE("a network is told of several days what the env tells it") {
  check_family("clustered", 2);
}

TEST_CASE("a network is told of rides what the env tells it") { check_family("city", 1); }

}  // namespace penstock::booking::selling
