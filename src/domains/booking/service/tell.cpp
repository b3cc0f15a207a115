#include "domains/booking/service/tell.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "domains/booking/service/call.h"

namespace penstock::booking::service {
namespace {

using dispatch::Problem;
using dispatch::Route;
using dispatch::Schedule;
using dispatch::Visit;

std::size_t place_in(std::int32_t number) { return static_cast<std::size_t>(number); }

double rounded(double value, double per) { return std::round(value * per) / per; }

const dispatch::Task& task_at(const Problem& problem, const Visit& visit) {
  return problem.tasks[place_in(visit.stop / 2)];
}

const char* kind_of(const dispatch::Task& task, const Visit& visit) {
  if (!task.is_shipment) { return "job"; }
  return visit.stop % 2 == 0 ? "pickup" : "delivery";
}

Json tell_load(const Problem& problem, const Route& route, std::size_t leg) {
  Json load = Json::array();
  const auto amounts = place_in(problem.num_amounts);
  for (std::size_t a = 0; a < amounts; ++a) { load.push_back(route.load[leg * amounts + a]); }
  return load;
}

/// The largest load of a kind on any leg.
std::int64_t most_aboard(const Problem& problem, const Route& route, std::size_t amount) {
  std::int64_t most = 0;
  for (std::size_t at = amount; at < route.load.size(); at += place_in(problem.num_amounts)) {
    most = std::max(most, route.load[at]);
  }
  return most;
}

/// What no leg of the route carries: the room that nobody holds.
Json tell_unheld(const Problem& problem, const Route& route) {
  const dispatch::Vehicle& vehicle = problem.vehicles[place_in(route.vehicle)];
  Json free = Json::array();
  for (std::size_t a = 0; a < place_in(problem.num_amounts); ++a) {
    free.push_back(vehicle.capacity[a] - most_aboard(problem, route, a));
  }
  return free;
}

/// Its coordinates; adds nothing for a place without.
void add_location(const Problem& problem, std::int32_t place, const char* name, Json& told) {
  if (place < 0 || !problem.places[place_in(place)].has_point) { return; }
  told[name] = problem.places[place_in(place)].point;
}

Json tell_stop(const Problem& problem, const Route& route, const dispatch::Timetable::Row& row) {
  const Visit& visit = route.visits[place_in(row.visit)];
  Json told = {{"id", id_at(problem, visit)},
               {"kind", kind_of(task_at(problem, visit), visit)},
               {"arrival", dispatch::clock_text(row.arrival)},
               {"begin", dispatch::clock_text(row.start)},
               {"end", dispatch::clock_text(row.end)},
               {"km", km(row.driven_metres)},
               {"load", tell_load(problem, route, place_in(row.visit))},
               {"frozen", row.visit <= route.frozen}};
  add_location(problem, visit.place, "location", told);
  return told;
}

}  // namespace

double units(dispatch::Money cost) {
  return rounded(static_cast<double>(cost) / dispatch::kUnit, 1000);
}
double km(std::int64_t metres) { return static_cast<double>(metres) / 1000; }
double minutes(std::int64_t seconds) { return rounded(static_cast<double>(seconds) / 60, 100); }

const std::string& id_at(const Problem& problem, const Visit& visit) {
  return task_at(problem, visit).stops[0].id.text;
}

std::string explain(dispatch::Obstacle obstacle) {
  switch (obstacle) {
    case dispatch::Obstacle::skills:
      return "no vehicle has the skills; quote another depot, or give a vehicle of the fleet's "
             "file the skills";
    case dispatch::Obstacle::capacity:
      return "no vehicle has room for it; quote another day";
    case dispatch::Obstacle::shift:
      return "no vehicle has the time for it, whatever the slot; quote another day";
    default:
      return "no vehicle can be there in this slot; quote others";
  }
}

Json tell_price(const dispatch::Quote& quote) {
  return {{"added_cost", units(quote.added)},
          {"added_km", km(quote.added_metres)},
          {"added_min", minutes(quote.added_seconds)}};
}

Json tell_price(const Route& without, const Route& with) {
  return tell_price({.added = with.cost - without.cost,
                     .added_metres = with.metres - without.metres,
                     .added_seconds = with.seconds - without.seconds});
}

Json tell_quote(const dispatch::TimeWindow& window, const dispatch::Quote& quote) {
  if (!quote.where.fits()) {
    return {{"window", window_json(window)},
            {"feasible", false},
            {"obstacle", dispatch::name_of(quote.obstacle)},
            {"why", explain(quote.obstacle)}};
  }
  Json told = tell_price(quote);
  told["window"] = window_json(window);
  told["feasible"] = true;
  told["begin"] = dispatch::clock_text(quote.start);
  return told;
}

void add_vehicle(const Problem& problem, const Route& route, Json& told) {
  const dispatch::Vehicle& vehicle = problem.vehicles[place_in(route.vehicle)];
  Json load = Json::array();
  Json capacity = Json::array();
  for (std::size_t a = 0; a < place_in(problem.num_amounts); ++a) {
    load.push_back(most_aboard(problem, route, a));
    capacity.push_back(vehicle.capacity[a]);
  }
  told["vehicle"] = vehicle.id.text;
  told["load"] = std::move(load);
  told["capacity"] = std::move(capacity);
}

// What goes in or comes out leaves the order of the others as it is.
Json tell_displaced(const Problem& problem, const Route& before, const Route& after,
                    std::string_view but) {
  Json told = Json::array();
  auto next = after.visits.begin();
  for (const Visit& visit : before.visits) {
    if (visit.stop < 0) { continue; }
    const auto found = std::find_if(next, after.visits.end(),
                                    [&](const Visit& one) { return one.stop == visit.stop; });
    if (found == after.visits.end()) { continue; }
    next = found + 1;
    const std::string& id = id_at(problem, visit);
    if (found->start == visit.start || id == but) { continue; }
    told.push_back({{"id", visit.stop % 2 == 0 ? id : id + " delivery"},
                    {"from", dispatch::clock_text(visit.start)},
                    {"to", dispatch::clock_text(found->start)}});
  }
  return told;
}

Json tell_route(const Schedule& schedule, const Route& route) {
  const Problem& problem = schedule.problem();
  const dispatch::Timetable table = dispatch::timetable(problem, route);
  Json stops = Json::array();
  Json breaks = Json::array();
  for (const auto& row : table.rows) {
    if (row.pause >= 0) {
      breaks.push_back(
          {{"begin", dispatch::clock_text(row.start)}, {"end", dispatch::clock_text(row.end)}});
    } else if (route.visits[place_in(row.visit)].stop >= 0) {
      stops.push_back(tell_stop(problem, route, row));
    }
  }
  const dispatch::Vehicle& vehicle = problem.vehicles[place_in(route.vehicle)];
  Json told = {{"vehicle", vehicle.id.text},
               {"km", km(route.metres)},
               {"driving_min", minutes(route.seconds)},
               {"cost", units(route.cost)},
               {"load", tell_load(problem, route, 0)},
               {"unheld", tell_unheld(problem, route)},
               {"stops", std::move(stops)},
               {"breaks", std::move(breaks)}};
  add_location(problem, vehicle.start, "start", told);
  add_location(problem, vehicle.end, "end", told);
  if (vehicle.shift.latest < dispatch::kForever) { told["shift"] = window_json(vehicle.shift); }
  if (!table.rows.empty()) {  // it leaves the depot
    told["departure"] = dispatch::clock_text(table.rows.front().end);
    told["return"] = dispatch::clock_text(table.rows.back().arrival);
  }
  return told;
}

}  // namespace penstock::booking::service
