#include "penstock/domains/booking/selling/plan_view.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::booking::selling {
namespace {

using dispatch::Place;
using dispatch::Problem;
using dispatch::Route;
using dispatch::Schedule;
using dispatch::Task;
using dispatch::TimeWindow;
using dispatch::Vehicle;
using dispatch::Visit;

constexpr double kHour = 3600;
constexpr double kDayHours = 24;
constexpr double kCents = 100;

Cents cents_of(double units) { return std::llround(units * kCents); }
Cents cents_of(dispatch::Money money) { return cents_of(1.0 * money / dispatch::kUnit); }

/// A matrix without distances has times alone.
double metres_between(const Problem& problem, const Vehicle& vehicle, const Place& from,
                      const Place& to) {
  const dispatch::Leg leg = problem.leg(vehicle, from, to);
  const dispatch::Profile& profile = problem.profiles[vehicle.profile];
  const bool timed_only = profile.rows > 0 && profile.metres.empty();
  return timed_only ? leg.seconds * profile.metres_per_second : leg.metres;
}

/// When a task is promised: the middle of its windows.
dispatch::Time promised(const Task& task, bool of_delivery) {
  const dispatch::TimeWindows& windows =
      task.stops[of_delivery && task.is_shipment ? 1 : 0].windows;
  if (windows.empty()) { return dispatch::kForever; }
  return windows.front().earliest + (windows.back().latest - windows.front().earliest) / 2;
}

bool holds(const TimeWindow& window, dispatch::Time time) {
  return window.earliest <= time && time <= window.latest;
}

/// Each stop of a route to the slots that it is promised for.
void add_route(const Problem& problem, const Route& route, const Place& here, double side,
               std::span<const TimeWindow> windows, bool of_delivery, PlanView& view) {
  constexpr double kMostSlack = 86'400;  // of a day without an end
  const Vehicle& vehicle = problem.vehicles[route.vehicle];
  for (const Visit& visit : route.visits) {
    if (visit.stop < 0) { continue; }
    const Task& task = problem.tasks[visit.stop / 2];
    const bool first = visit.stop % 2 == 0;
    view.sold += first ? 1 : 0;
    const dispatch::Time time = promised(task, of_delivery);
    const double far = metres_between(problem, vehicle, here, problem.places[visit.place]) / side;
    const double slack = std::min<double>(visit.latest - visit.start, kMostSlack);
    for (std::size_t s = 0; s < windows.size(); ++s) {
      if (!holds(windows[s], time)) { continue; }
      view.slots[s].sold += first ? 1 : 0;
      view.slots[s].add_stop(far, slack);
    }
  }
}

double nearest_start(const Problem& problem, const Place& here, double side) {
  double least = std::numeric_limits<double>::max();
  for (const Vehicle& vehicle : problem.vehicles) {
    if (vehicle.start < 0) { continue; }
    least = std::min(least,
                     metres_between(problem, vehicle, problem.places[vehicle.start], here) / side);
  }
  return least == std::numeric_limits<double>::max() ? 0 : least;
}

/// The horizon in which all days of a call are sold, in hours from when the first day begins.
struct Horizon {
  double opens = 0;
  double closes = 0;
  double closes_h = 0;

  Horizon(std::span<const PlanView> plans, const Forecast& forecast)
      : opens(-forecast.opens_h), closes(-forecast.closes_h), closes_h(forecast.closes_h) {
    for (const PlanView& plan : plans) { closes = std::max(closes, cutoff_hour(plan.day)); }
  }
  [[nodiscard]] double cutoff_hour(std::int32_t day) const { return kDayHours * day - closes_h; }
  [[nodiscard]] double share(double hour) const {
    return std::clamp((hour - opens) / (closes - opens), 0.0, 1.0);
  }
};

FeeRule fee_rule(const Forecast& forecast, double beta) {
  constexpr double kMostUtility = 2.5;
  return {.most = forecast.most_fee > 0 ? forecast.most_fee : kMostUtility / beta,
          .step = forecast.fee_step};
}

}  // namespace

PlanView view_of(const Schedule& plan, const dispatch::Request& request,
                 std::span<const TimeWindow> windows, std::span<const dispatch::Quote> quotes,
                 bool of_delivery, const Forecast& forecast) {
  constexpr double kKm = 1000;
  const Problem& problem = plan.problem();
  const double side = forecast.side_km * kKm;
  const Place& here = request.places[0];
  PlanView view{.used = 1.0 * plan.vehicles_used(),
                .depot = nearest_start(problem, here, side),
                .cost = cents_of(plan.cost())};
  view.vehicles = problem.vehicles.size();
  for (std::size_t s = 0; s < windows.size(); ++s) {
    const dispatch::Quote& quote = quotes[s];
    const bool fits = quote.where.fits();
    view.slots.push_back(
        {.time = {.from = windows[s].earliest / kHour, .to = windows[s].latest / kHour},
         .open = true,
         .fits = fits,
         .opens_vehicle = fits && plan.routes()[quote.where.vehicle].num_stops() == 0,
         .cost = cents_of(quote.added)});
  }
  for (const Route& route : plan.routes()) {
    add_route(problem, route, here, side, windows, of_delivery, view);
  }
  return view;
}

SlotState state_of(const Caller& caller, std::span<const PlanView> plans,
                   std::span<const SlotPlace> slots, const Forecast& forecast) {
  const Horizon horizon(plans, forecast);
  const double beta = caller.model.merged(caller.belief).beta;
  SlotState state{.num_slots = slots.size(),
                  .model = caller.model,
                  .belief = caller.belief,
                  .beta = beta,
                  .fees = fee_rule(forecast, beta),
                  .revenue = cents_of(caller.revenue),
                  .passed = horizon.share(-caller.hours_ahead),
                  .expected = forecast.calls * plans.size(),
                  .ride = caller.ride};
  state.days = plans.size();
  double vehicles = 0;
  for (const PlanView& plan : plans) {
    vehicles += plan.vehicles;
    state.used += plan.used;
    state.sold += plan.sold;
    state.cost += plan.cost;
    state.depot = plan.depot;
  }
  state.used /= vehicles;
  state.vehicles = vehicles / state.days;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    const PlanView& plan = plans[slots[s].plan];
    SlotView& slot = state.slots[s];
    slot = plan.slots[slots[s].slot];
    slot.time.day = plan.day;
    slot.until_cutoff = horizon.share(horizon.cutoff_hour(plan.day)) - state.passed;
  }
  return state;
}

}  // namespace penstock::booking::selling
