#include <algorithm>
#include <limits>

#include "domains/booking/dispatch/scratch.h"

namespace penstock::booking::dispatch {
namespace {

constexpr Money kNoPrice = std::numeric_limits<Money>::max();

/// The price above which no window can gain.
Money dearest(std::span<const Quote> quotes) {
  Money most = 0;
  for (const Quote& quote : quotes) { most = std::max(most, quote.added); }
  return most;
}

void keep(const Placement& where, Time start, Quote& quote) {
  quote.where = where;
  quote.added = where.added;
  quote.start = start;
}

}  // namespace

Detour detour_of(const Problem& problem, const Route& route, std::int32_t task,
                 const Placement& where) {
  const Vehicle& vehicle = vehicle_of(problem, route);
  const Task& asked = problem.tasks[index(task)];
  Detour sum{.cost = where.added};
  const auto drive = [&](std::int32_t from, std::int32_t to, int sign) {
    const Leg leg = problem.leg(vehicle, from, to);
    sum.seconds += std::int64_t{sign} * leg.seconds;
    sum.metres += std::int64_t{sign} * leg.metres;
  };
  const auto place_at = [&](std::int32_t k) { return route.visits[index(k)].place; };
  const auto around = [&](std::int32_t k, std::int32_t in, std::int32_t out) {
    drive(place_at(k), in, 1);
    drive(out, place_at(k + 1), 1);
    if (route.num_stops() > 0) { drive(place_at(k), place_at(k + 1), -1); }
  };
  const std::int32_t first = asked.stops[0].place;
  const std::int32_t second = asked.stops[1].place;
  if (!asked.is_shipment) {
    around(where.after, first, first);
  } else if (where.after == where.after_second) {
    around(where.after, first, second);
    drive(first, second, 1);
  } else {
    around(where.after, first, first);
    around(where.after_second, second, second);
  }
  return sum;
}

void Schedule::quote_job(std::int32_t task, std::span<const TimeWindow> windows,
                         std::span<Quote> quotes) {
  Places& places = scratch_->places;
  TimeWindows& own = problem_.tasks[index(task)].stops[0].windows;
  Money most = kNoPrice;
  TimeWindow span{.earliest = kForever, .latest = -kForever};
  for (const TimeWindow& window : windows) {
    span.earliest = std::min(span.earliest, window.earliest);
    span.latest = std::max(span.latest, window.latest);
  }
  for (const Route& route : routes_) {
    if (!places.begin(problem_, route, task)) { continue; }
    const bool limited = places.has_limited_rides();
    places.each_of_job(
        span, [&](Money added) { return added < most; },
        [&](const Placement& where, Time earliest, Time latest) {
          for (std::size_t w = 0; w < windows.size(); ++w) {
            const Time start = std::max(earliest, windows[w].earliest);
            if (where.added >= quotes[w].added || start > std::min(latest, windows[w].latest)) {
              continue;
            }
            if (limited) { own.assign(1, windows[w]); }
            if (limited && !places.rides_hold(where)) { continue; }
            keep(where, start, quotes[w]);
          }
          most = dearest(quotes);
        });
  }
}

void Schedule::quote_shipment(std::int32_t task, std::span<const TimeWindow> windows,
                              std::size_t stop, std::span<Quote> quotes) {
  Places& places = scratch_->places;
  Task& asked = problem_.tasks[index(task)];
  for (const Route& route : routes_) {
    if (!places.begin(problem_, route, task)) { continue; }
    for (std::size_t w = 0; w < windows.size(); ++w) {
      Quote& quote = quotes[w];
      asked.stops[stop].windows.assign(1, windows[w]);
      places.each_of_shipment(
          asked.stops[0].windows, asked.stops[1].windows, [](Money) { return true; },
          [&](Money added) { return added < quote.added; },
          [&](const Placement& where, Time pickup, Time delivery) {
            if (where.added >= quote.added) { return; }
            if (places.has_limited_rides() && !places.rides_hold(where)) { return; }
            keep(where, stop == 0 ? pickup : delivery, quote);
          });
    }
  }
}

std::vector<Quote> Schedule::quote(const Request& request, std::span<const TimeWindow> windows,
                                   bool of_delivery) {
  std::vector<Quote> quotes(windows.size());
  for (Quote& quote : quotes) { quote.added = kNoPrice; }
  const std::int32_t task = admit(request);
  const std::size_t stop = of_delivery && request.task.is_shipment ? 1 : 0;
  if (request.task.is_shipment) {
    quote_shipment(task, windows, stop, quotes);
  } else {
    quote_job(task, windows, quotes);
  }
  Obstacle obstacle = Obstacle::none;
  for (Quote& quote : quotes) {
    if (quote.where.fits()) {
      tell_detour(task, quote);
      continue;
    }
    if (obstacle == Obstacle::none) { obstacle = obstacle_of(task, stop); }
    quote.obstacle = obstacle;
    quote.added = 0;
  }
  forget(task);
  return quotes;
}

Quote Schedule::quote(const Request& request) {
  const std::int32_t task = admit(request);
  Quote quote{.where = cheapest(task)};
  if (quote.where.fits()) {
    quote.added = quote.where.added;
    tell_detour(task, quote);
    Route route = routes_[index(quote.where.vehicle)];
    dispatch::insert(problem_, route, task, quote.where);
    quote.start = route.visits[index(quote.where.after) + 1].start;
  } else {
    quote.obstacle = obstacle_of(task, 0);
  }
  forget(task);
  return quote;
}

void Schedule::tell_detour(std::int32_t task, Quote& quote) {
  const Route& route = routes_[index(quote.where.vehicle)];
  const Detour detour = detour_of(problem_, route, task, quote.where);
  quote.added_metres = detour.metres;
  quote.added_seconds = detour.seconds;
}

Placement Schedule::cheapest(std::int32_t task) {
  Placement best;
  auto blink = [] { return false; };
  for (const Route& route : routes_) {
    look_for_cheaper(scratch_->places, problem_, route, task, blink, best);
  }
  return best;
}

/// What would have to be given up first for the task to fit. Changes the task's windows and loads,
/// which nobody needs any more.
Obstacle Schedule::obstacle_of(std::int32_t task, std::size_t stop) {
  Task& asked = problem_.tasks[index(task)];
  const auto has_skills = [&](const Vehicle& vehicle) {
    return problem_.can_serve(vehicle, asked);
  };
  if (std::none_of(problem_.vehicles.begin(), problem_.vehicles.end(), has_skills)) {
    return Obstacle::skills;
  }
  asked.stops[stop].windows.clear();
  if (cheapest(task).fits()) { return Obstacle::window; }
  asked.delivery = asked.pickup = Amount{};
  return cheapest(task).fits() ? Obstacle::capacity : Obstacle::shift;
}

}  // namespace penstock::booking::dispatch
