// What a day shows, and how it is kept in a store.
#include <fmt/format.h>

#include <utility>

#include "domains/booking/service/day.h"
#include "domains/booking/service/tell.h"
#include "penstock/core/base/errors.h"

namespace penstock::booking::service {
namespace {

struct Promise {
  Wish wish;
  TimeWindow window;
  std::optional<Showing> showing;
};

Promise read_promise(const StoredBooking& stored) {
  const std::string document = "the store: booking " + stored.id;
  const Json json = parse_json(stored.text);
  const JsonField field(json, document);
  return {.wish = read_wish(field.at("wish")),
          .window = read_window(field.at("window")),
          .showing = read_showing(field)};
}

/// As a task of the problem that no vehicle serves yet.
void add_task(dispatch::Problem& problem, dispatch::Request request, const Promise& promise) {
  dispatch::Task& task = problem.tasks.emplace_back(std::move(request.task));
  for (std::size_t i = 0; i < static_cast<std::size_t>(task.num_stops()); ++i) {
    task.stops[i].place = problem.places.size();
    problem.places.push_back(request.places[i]);
  }
  const std::size_t promised = promise.wish.slot_stop == SlotStop::delivery ? 1 : 0;
  task.stops[promised].windows.assign(1, promise.window);
}

/// The vehicle's number.
std::size_t find_vehicle(const dispatch::Problem& problem, const std::string& id) {
  for (std::size_t v = 0; v < problem.vehicles.size(); ++v) {
    if (problem.vehicles[v].id.text == id) { return v; }
  }
  throw DataError(
      fmt::format("the fleet has no vehicle {} any more: put it back, or serve the "
                  "store of another day",
                  id));
}

/// "0id" or "1id" as the number of a visit.
std::int32_t stop_number(const dispatch::Schedule& schedule, const std::string& text) {
  const auto task = schedule.find(text.substr(1));
  if (!task) { throw DataError(fmt::format("a route visits {}, which is not booked", text)); }
  return 2 * *task + (text.front() == '1' ? 1 : 0);
}

void load_routes(dispatch::Schedule& schedule, const Json& routes) {
  std::vector<std::vector<std::int32_t>> stops(schedule.problem().vehicles.size());
  for (const auto& [id, route] : routes.items()) {
    auto& list = stops[find_vehicle(schedule.problem(), id)];
    for (const Json& stop : route.at("stops")) {
      list.push_back(stop_number(schedule, stop.get_ref<const std::string&>()));
    }
  }
  if (const auto fault = schedule.load(stops)) { throw DataError(*fault); }
  for (const auto& [id, route] : routes.items()) {
    if (!route.contains("frozen")) { continue; }
    schedule.freeze(static_cast<std::int32_t>(find_vehicle(schedule.problem(), id)),
                    route.at("frozen").get<std::int32_t>(), route.at("time").get<dispatch::Time>());
  }
}

/// By those who share no code with the search.
void require_kept(const dispatch::Schedule& schedule) {
  const auto faults = dispatch::check(schedule.problem(), dispatch::told(schedule));
  if (!faults.empty()) { throw DataError(faults.front()); }
  if (!schedule.unserved().empty()) { throw DataError("a booking is in no route"); }
}

}  // namespace

Day::Day(const StoredPlan& stored, const Fleet& fleet) : Day(stored.id, fleet) {
  try {
    load(stored);
  } catch (const Error& error) {
    throw DataError(fmt::format("plan {}: {}", id_, error.what()));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("plan {}: {}", id_, error.what()));
  }
}

void Day::load(const StoredPlan& stored) {
  version_ = stored.version;
  dispatch::Problem problem = fleet_->problem();
  for (const StoredBooking& booking : stored.bookings) {
    const Promise promise = read_promise(booking);
    add_task(problem, fleet_->read(promise.wish), promise);
    bookings_[booking.id] = {.text = wish_text(promise.wish),
                             .window = promise.window,
                             .expires_ms = booking.expires_ms,
                             .showing = promise.showing};
  }
  schedule_ = dispatch::Schedule(std::move(problem));
  load_routes(schedule_, parse_json(stored.routes));
  require_kept(schedule_);
}

StoredBooking Day::stored(const std::string& id) const {
  const Booking& booking = bookings_.at(id);
  const std::string shown = booking.showing ? showing_text(*booking.showing) : "";
  return {.id = id,
          .expires_ms = booking.expires_ms,
          .text = fmt::format(R"({{"window":{},"wish":{}{}}})",
                              to_text(window_json(booking.window)), booking.text, shown)};
}

/// {"vehicle": {"frozen": stops, "time": then, "stops": [...]}}; a stop is 0 for a job or pickup, 1
/// for a delivery, and the id.
std::string Day::routes_text() const {
  const dispatch::Problem& problem = schedule_.problem();
  Json routes = Json::object();
  for (const dispatch::Route& route : schedule_.routes()) {
    const bool on_the_road = route.frozen > 0 || route.not_before > -dispatch::kForever;
    if (route.num_stops() == 0 && !on_the_road) { continue; }
    Json stops = Json::array();
    for (const dispatch::Visit& visit : route.visits) {
      if (visit.stop < 0) { continue; }
      stops.push_back(fmt::format("{}{}", visit.stop % 2, id_at(problem, visit)));
    }
    Json& told = routes[problem.vehicles[route.vehicle].id.text];
    told["stops"] = std::move(stops);
    if (on_the_road) {
      told["frozen"] = route.frozen;
      told["time"] = route.not_before;
    }
  }
  return to_text(routes);
}

Change Day::change_for(const Outcome& outcome, std::int64_t now_ms) const {
  return {.plan = id_,
          .before = version_ - (outcome.changed ? 1 : 0),
          .after = version_,
          .routes = routes_text(),
          .put = outcome.put,
          .removed = removed_,
          .choice = outcome.choice,
          .now_ms = now_ms};
}

Json Day::tell_booking(const std::string& id) const {
  const Booking& booking = bookings_.at(id);
  const std::int32_t task = *schedule_.find(id);
  const std::size_t vehicle = schedule_.vehicle_of(task);
  Json told = {{"id", id},
               {"state", booking.expires_ms == 0 ? "booked" : "held"},
               {"window", window_json(booking.window)},
               {"vehicle", schedule_.problem().vehicles[vehicle].id.text}};
  if (booking.expires_ms != 0) { told["expires_ms"] = booking.expires_ms; }
  return told;
}

Json Day::show(std::int64_t now_ms) {
  expire(now_ms);
  Json bookings = Json::array();
  for (const auto& [id, unused] : bookings_) { bookings.push_back(tell_booking(id)); }
  Json routes = Json::array();
  for (const dispatch::Route& route : schedule_.routes()) {
    routes.push_back(tell_route(schedule_, route));
  }
  return {{"plan", id_},
          {"version", version_},
          {"now_ms", now_ms},
          {"cost", units(schedule_.cost())},
          {"km", km(schedule_.metres())},
          {"driving_min", minutes(schedule_.seconds())},
          {"vehicles_used", schedule_.vehicles_used()},
          {"degrees", schedule_.problem().degrees},
          {"num_amounts", schedule_.problem().num_amounts},
          {"bookings", std::move(bookings)},
          {"routes", std::move(routes)}};
}

}  // namespace penstock::booking::service
