#include "domains/booking/service/day.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "domains/booking/service/tell.h"
#include "domains/booking/service/wall_clock.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/slots/choice.h"

namespace penstock::booking::service {
namespace {

std::string told(const TimeWindow& window) {
  return fmt::format("{} to {}", dispatch::clock_text(window.earliest),
                     dispatch::clock_text(window.latest));
}

std::string needed_by_others(const std::string& id) {
  return fmt::format(
      "without {} a vehicle would be late for others: the matrix has a way that is "
      "longer than the one through its place; move one of the others first",
      id);
}

/// Whether a stop of the task is among the first of its route.
bool is_frozen(const dispatch::Schedule& schedule, std::int32_t task) {
  const std::int32_t vehicle = schedule.vehicle_of(task);
  if (vehicle < 0) { return false; }
  const dispatch::Route& route = schedule.routes()[vehicle];
  return std::any_of(
      route.visits.begin(), route.visits.begin() + 1 + route.frozen,
      [&](const dispatch::Visit& visit) { return visit.stop >= 0 && visit.stop / 2 == task; });
}

/// Whom a move displaces, where it leaves and where it goes.
Json tell_moved(const dispatch::Schedule& before, const dispatch::Schedule& after,
                const std::string& id) {
  const std::int32_t from = before.vehicle_of(*before.find(id));
  const std::int32_t to = after.vehicle_of(*after.find(id));
  const auto told = [&](std::int32_t vehicle) {
    return tell_displaced(before.problem(), before.routes()[vehicle], after.routes()[vehicle], id);
  };
  Json all = told(from);
  if (to == from) { return all; }
  Json others = told(to);
  for (Json& one : others) { all.push_back(std::move(one)); }
  return all;
}

}  // namespace

Day::Day(std::string id, const Fleet& fleet)
    : id_(std::move(id)), fleet_(&fleet), schedule_(fleet.problem()) {}

/// False when others would come too late without it: then it stays.
bool Day::remove(const std::string& id) {
  if (!schedule_.remove(*schedule_.find(id))) { return false; }
  bookings_.erase(id);
  removed_.push_back(id);
  ++generation_;
  return true;
}

bool Day::under_way(const std::string& id) const {
  return is_frozen(schedule_, *schedule_.find(id));
}

void Day::expire(std::int64_t now_ms) {
  std::vector<std::string> over;
  for (const auto& [id, booking] : bookings_) {
    if (booking.expires_ms != 0 && booking.expires_ms <= now_ms) { over.push_back(id); }
  }
  for (const std::string& id : over) { static_cast<void>(remove(id)); }
}

Quoted Day::quote(const Wish& wish, std::span<const TimeWindow> windows, std::int64_t now_ms) {
  expire(now_ms);
  const dispatch::Request request = fleet_->read(wish);
  const bool of_delivery = wish.slot_stop == SlotStop::delivery;
  const auto quotes = schedule_.quote(request, windows, of_delivery);
  const auto& forecast = fleet_->forecast();
  const double told_revenue = units(request.task.revenue);
  const double revenue = told_revenue == 0 && forecast ? forecast->revenue : told_revenue;
  Quoted quoted;
  std::vector<Priced>& priced = quoted.slots;
  priced.reserve(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    Priced& one = priced.emplace_back(Priced{.told = tell_quote(windows[i], quotes[i]),
                                             .feasible = quotes[i].where.fits(),
                                             .cost = units(quotes[i].added),
                                             .revenue = revenue});
    one.told["plan"] = id_;
    if (!one.feasible) { continue; }
    const auto& where = quotes[i].where;
    const dispatch::Route with = schedule_.preview(request, windows[i], where, of_delivery);
    add_vehicle(schedule_.problem(), with, one.told);
    one.told["displaced"] =
        tell_displaced(schedule_.problem(), schedule_.routes()[where.vehicle], with);
  }
  if (forecast) {
    quoted.view = selling::view_of(schedule_, request, windows, quotes, of_delivery, *forecast);
  }
  return quoted;
}

/// The slot of this day among those that were shown; -1: none.
std::int32_t Day::place_in(const Showing& showing, const TimeWindow& window) const {
  const auto found =
      std::find_if(showing.slots.begin(), showing.slots.end(), [&](const Slot& slot) {
        return slot.window == window && (slot.date.empty() || slot.date == date());
      });
  return found == showing.slots.end() ? -1
                                      : static_cast<std::int32_t>(found - showing.slots.begin());
}

std::optional<StoredChoice> Day::choice_of(const std::optional<Showing>& showing,
                                           std::int32_t taken, const std::string& wish,
                                           std::int64_t now_ms) const {
  if (!showing) { return {}; }
  std::vector<Slot> slots = showing->slots;
  for (Slot& slot : slots) {
    if (slot.date.empty()) { slot.date = date(); }
  }
  Json text = {{"offered", slots_json(slots)}, {"taken", taken}, {"today", date_of(now_ms)}};
  if (!wish.empty()) { text["wish"] = parse_json(wish); }
  return StoredChoice{.customer = showing->customer, .text = to_text(text)};
}

Outcome Day::apply(const ChangeCall& call, std::int64_t now_ms) {
  expire(now_ms);
  Outcome outcome = judge(call, now_ms);
  version_ += outcome.changed ? 1 : 0;
  generation_ += outcome.changed ? 1 : 0;
  outcome.answer["plan"] = id_;
  outcome.answer["version"] = version_;
  outcome.answer["now_ms"] = now_ms;
  if (outcome.status == 200) { outcome.answer["changed"] = outcome.changed; }
  return outcome;
}

Outcome Day::judge(const ChangeCall& call, std::int64_t now_ms) {
  if (call.if_version.value_or(version_) != version_) {
    return refuse(409, fmt::format("the plan has version {}, not {}: read it again", version_,
                                   *call.if_version));
  }
  if (call.verb == "hold") { return hold(call, now_ms); }
  if (call.verb == "commit") { return commit(call, now_ms); }
  if (call.verb == "cancel") { return cancel(call); }
  if (call.verb == "decline") { return decline(call, now_ms); }
  if (call.verb == "move") { return move(call); }
  return progress(call);
}

Outcome Day::refuse(int status, std::string why) const {
  return {.status = status, .answer = {{"error", std::move(why)}}};
}

const dispatch::Route& Day::route_of(const std::string& id) const {
  return schedule_.routes()[schedule_.vehicle_of(*schedule_.find(id))];
}

/// What a booking adds to the routes of now, and whom it moves.
Json Day::tell_share(const std::string& id) const {
  const dispatch::Route& with = route_of(id);
  dispatch::Route without = with;
  dispatch::erase(schedule_.problem(), without, *schedule_.find(id));
  Json told = tell_price(without, with);
  told["displaced"] = tell_displaced(schedule_.problem(), without, with);
  return told;
}

/// The plan has changed, and with it this booking.
Outcome Day::changed(const std::string& id, Json more) const {
  more["id"] = id;
  Outcome outcome{.answer = std::move(more), .changed = true};
  if (bookings_.contains(id)) {
    outcome.answer.update(tell_booking(id));
    add_vehicle(schedule_.problem(), route_of(id), outcome.answer);
    outcome.put.push_back(stored(id));
  }
  return outcome;
}

Outcome Day::hold(const ChangeCall& call, std::int64_t now_ms) {
  return place(call, now_ms + call.ttl_ms);
}

Outcome Day::commit(const ChangeCall& call, std::int64_t now_ms) {
  const auto found = bookings_.find(call.id);
  if (found == bookings_.end() || found->second.expires_ms == 0) {
    if (call.wish) {
      Outcome outcome = place(call, 0);
      if (outcome.changed && call.showing) {
        outcome.choice = choice_of(call.showing, place_in(*call.showing, *call.window),
                                   wish_text(*call.wish), now_ms);
      }
      return outcome;
    }
    if (found != bookings_.end()) {
      return refuse(409, fmt::format("{} is booked already", call.id));
    }
    return refuse(404, fmt::format("nothing is held for {}: the hold is over, or never was; hold a "
                                   "slot again, or commit with job and slot",
                                   call.id));
  }
  Booking& booking = found->second;
  booking.expires_ms = 0;
  const std::optional<Showing> showing = std::exchange(booking.showing, std::nullopt);
  Outcome outcome = changed(call.id, tell_share(call.id));
  if (showing) {
    outcome.choice = choice_of(showing, place_in(*showing, booking.window), booking.text, now_ms);
  }
  return outcome;
}

Outcome Day::place(const ChangeCall& call, std::int64_t expires_ms) {
  const Wish& wish = *call.wish;
  const TimeWindow& window = *call.window;
  if (const auto found = bookings_.find(wish.id); found != bookings_.end()) {
    return refuse(409, fmt::format("{} is {} already, {}; cancel or move it, or take another id",
                                   wish.id, found->second.expires_ms == 0 ? "booked" : "held",
                                   told(found->second.window)));
  }
  if (call.showing && place_in(*call.showing, window) < 0) {
    return refuse(409, fmt::format("{} is not among the slots that were offered: tell all of them",
                                   told(window)));
  }
  const dispatch::Request request = fleet_->read(wish);
  const bool of_delivery = wish.slot_stop == SlotStop::delivery;
  const dispatch::Quote quote =
      schedule_.quote(request, std::span(&window, 1), of_delivery).front();
  if (!quote.where.fits()) { return refuse(409, explain(quote.obstacle)); }
  const dispatch::Route before = schedule_.routes()[quote.where.vehicle];
  if (!schedule_.insert(request, window, of_delivery)) {
    return refuse(409, explain(quote.obstacle));
  }
  // Of a booking the answer is counted at once; of a hold when it is booked or declined.
  bookings_[wish.id] = {.text = wish_text(wish),
                        .window = window,
                        .expires_ms = expires_ms,
                        .showing = expires_ms == 0 ? std::nullopt : call.showing};
  Json more = tell_price(quote);
  more["displaced"] =
      tell_displaced(schedule_.problem(), before, schedule_.routes()[before.vehicle]);
  Outcome outcome = changed(wish.id, std::move(more));
  outcome.price = quote.added;
  return outcome;
}

Outcome Day::cancel(const ChangeCall& call) {
  if (!bookings_.contains(call.id)) {
    return refuse(404, fmt::format("{} is neither held nor booked", call.id));
  }
  return end(call.id, "cancelled");
}

Outcome Day::decline(const ChangeCall& call, std::int64_t now_ms) {
  const auto found = bookings_.find(call.id);
  if (found == bookings_.end()) {
    return {.answer = {{"id", call.id}, {"state", "declined"}},
            .choice = choice_of(call.showing, kNoPurchase, call.wish ? wish_text(*call.wish) : "",
                                now_ms)};
  }
  if (found->second.expires_ms == 0) {
    return refuse(409, fmt::format("{} is booked: cancel it", call.id));
  }
  const std::optional<Showing> showing = call.showing ? call.showing : found->second.showing;
  const std::string wish = found->second.text;
  Outcome outcome = end(call.id, "declined");
  if (outcome.changed) { outcome.choice = choice_of(showing, kNoPurchase, wish, now_ms); }
  return outcome;
}

Outcome Day::end(const std::string& id, const char* state) {
  if (under_way(id)) {
    return refuse(409, fmt::format("a vehicle is under way to {}: it cannot be taken back", id));
  }
  const dispatch::Route before = route_of(id);
  const std::int64_t cost = schedule_.cost();
  const std::int64_t metres = schedule_.metres();
  const std::int64_t seconds = schedule_.seconds();
  if (!remove(id)) { return refuse(409, needed_by_others(id)); }
  const dispatch::Route& after = schedule_.routes()[before.vehicle];
  return changed(id, {{"state", state},
                      {"saved_cost", units(cost - schedule_.cost())},
                      {"saved_km", km(metres - schedule_.metres())},
                      {"saved_min", minutes(seconds - schedule_.seconds())},
                      {"displaced", tell_displaced(schedule_.problem(), before, after, id)}});
}

Outcome Day::move(const ChangeCall& call) {
  const auto found = bookings_.find(call.id);
  if (found == bookings_.end()) {
    return refuse(404, fmt::format("{} is neither held nor booked", call.id));
  }
  if (under_way(call.id)) {
    return refuse(409, fmt::format("a vehicle is under way to {}: it cannot be moved", call.id));
  }
  const Wish wish = read_wish(found->second.text);
  const bool of_delivery = wish.slot_stop == SlotStop::delivery;
  const dispatch::Request request = fleet_->read(wish);
  dispatch::Schedule draft = schedule_;  // the old promise stands until the new one is kept
  if (!draft.remove(*draft.find(call.id))) { return refuse(409, needed_by_others(call.id)); }
  const dispatch::Quote quote =
      draft.quote(request, std::span(&*call.window, 1), of_delivery).front();
  if (!quote.where.fits() || !draft.insert(request, call.window, of_delivery)) {
    return refuse(409, explain(quote.obstacle) + "; the slot that was promised stands");
  }
  Json more = tell_price(quote);
  more["displaced"] = tell_moved(schedule_, draft, call.id);
  schedule_ = std::move(draft);
  found->second.window = *call.window;
  found->second.showing.reset();  // what was shown then is not what he has now
  return changed(call.id, std::move(more));
}

Outcome Day::progress(const ChangeCall& call) {
  const auto& vehicles = schedule_.problem().vehicles;
  const auto found = std::find_if(vehicles.begin(), vehicles.end(), [&](const auto& vehicle) {
    return vehicle.id.text == call.vehicle;
  });
  if (found == vehicles.end()) {
    return refuse(404, fmt::format("no vehicle {}; GET the plan tells them", call.vehicle));
  }
  const std::int32_t vehicle = found - vehicles.begin();
  const dispatch::Route& route = schedule_.routes()[vehicle];
  if (call.stops < route.frozen || call.stops > route.num_stops()) {
    return refuse(409,
                  fmt::format("{} has {} stops, of which {} are under way already; {} cannot be",
                              call.vehicle, route.num_stops(), route.frozen, call.stops));
  }
  for (std::int32_t i = 1; i <= call.stops; ++i) {
    const std::string& id = id_at(schedule_.problem(), route.visits[i]);
    if (bookings_.at(id).expires_ms != 0) {
      return refuse(409, fmt::format("{} is only held: commit or decline it first", id));
    }
  }
  dispatch::Schedule draft = schedule_;
  draft.freeze(vehicle, call.stops, call.time);
  if (!draft.routes()[vehicle].feasible) {
    return refuse(409,
                  fmt::format("{} would be late for what was promised if it goes on at {}: move "
                              "or cancel one of its stops first",
                              call.vehicle, dispatch::clock_text(call.time)));
  }
  schedule_ = std::move(draft);
  return {.answer = {{"vehicle", call.vehicle}, {"frozen", call.stops}}, .changed = true};
}

bool Day::take_improved(dispatch::Schedule better, std::uint64_t generation) {
  if (generation != generation_) { return false; }
  schedule_ = std::move(better);
  ++generation_;
  return true;
}

}  // namespace penstock::booking::service
