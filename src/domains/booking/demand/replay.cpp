#include "domains/booking/demand/replay.h"

#include <algorithm>

namespace penstock::booking::demand {
namespace {

/// Slots of a date that anybody was shown, the latest fee of each.
using Catalogue = std::map<std::string, std::vector<OfferedSlot>>;

void add_to(Catalogue& catalogue, const OfferedSlot& slot) {
  std::vector<OfferedSlot>& list = catalogue[slot.date];
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const OfferedSlot& one) { return one.same_time(slot); });
  if (found == list.end()) {
    list.push_back(slot);
  } else {
    found->fee = slot.fee;
  }
}

void add_others(const Catalogue& catalogue, Situation& at, std::int64_t& left_out) {
  const std::vector<OfferedSlot> own = at.slots;
  std::vector<std::string> dates;
  for (const OfferedSlot& slot : own) {
    if (std::find(dates.begin(), dates.end(), slot.date) == dates.end()) {
      dates.push_back(slot.date);
    }
  }
  for (const std::string& date : dates) {
    for (const OfferedSlot& slot : catalogue.at(date)) {
      const bool there = std::any_of(own.begin(), own.end(),
                                     [&](const OfferedSlot& one) { return one.same_time(slot); });
      if (there) { continue; }
      if (at.slots.size() >= kMaxSlots) {
        ++left_out;
        continue;
      }
      at.slots.push_back(slot);
    }
  }
}

}  // namespace

std::vector<Situation> situations_of(const std::vector<LoggedCall>& calls, std::int64_t& left_out) {
  Catalogue catalogue;
  for (const LoggedCall& call : calls) {
    for (const OfferedSlot& slot : call.menu) { add_to(catalogue, slot); }
  }
  std::vector<Situation> list;
  list.reserve(calls.size());
  for (const LoggedCall& call : calls) {
    Situation& at = list.emplace_back(Situation{.call = &call, .slots = call.menu});
    add_others(catalogue, at, left_out);
    for (const OfferedSlot& slot : at.slots) {
      at.times.push_back(seen_from(call.day, slot.date, slot.window));
    }
  }
  return list;
}

dispatch::Schedule& Replay::plan(const std::string& date) {
  const auto found = plans_.find(date);
  return found != plans_.end() ? found->second : plans_.emplace(date, fleet_).first->second;
}

/// Slots of one date are quoted together.
Quoted Replay::quote(const Situation& at) {
  Quoted quoted{.wares = std::vector<Wares>(at.slots.size()),
                .plans = {},
                .places = std::vector<selling::SlotPlace>(at.slots.size())};
  std::map<std::string, std::vector<std::size_t>> slots_of;
  for (std::size_t s = 0; s < at.slots.size(); ++s) { slots_of[at.slots[s].date].push_back(s); }
  for (const auto& [date, numbers] : slots_of) {
    std::vector<dispatch::TimeWindow> windows;
    for (const std::size_t s : numbers) { windows.push_back(at.slots[s].window); }
    dispatch::Schedule& day = plan(date);
    const auto quotes = day.quote(at.call->request, windows);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double fee = at.slots[numbers[i]].fee;
      const double cost = static_cast<double>(quotes[i].added) / dispatch::kUnit;
      quoted.wares[numbers[i]] = {
          .margin = at.call->revenue + fee - cost, .fee = fee, .feasible = quotes[i].where.fits()};
      quoted.places[numbers[i]] = {.plan = quoted.plans.size(), .slot = i};
    }
    if (forecast_ == nullptr) { continue; }
    quoted.plans.push_back(
        selling::view_of(day, at.call->request, windows, quotes, false, *forecast_));
    quoted.plans.back().day =
        at.times[numbers.front()].day - at.times[slots_of.begin()->second.front()].day;
  }
  return quoted;
}

bool Replay::book(const LoggedCall& call, const OfferedSlot& slot) {
  changed_[slot.date] = true;
  return plan(slot.date).insert(call.request, slot.window).has_value();
}

void Replay::end_day(std::int64_t improve, std::uint64_t seed) {
  for (const auto& [date, unused] : changed_) {
    if (improve > 0) { plan(date).improve(improve, seed); }
  }
  changed_.clear();
}

double Replay::cost() const {
  double sum = 0;
  for (const auto& [date, plan] : plans_) {
    sum += static_cast<double>(plan.cost()) / dispatch::kUnit;
  }
  return sum;
}

double Replay::km() const {
  constexpr double kMetres = 1000;
  double sum = 0;
  for (const auto& [date, plan] : plans_) { sum += static_cast<double>(plan.metres()) / kMetres; }
  return sum;
}

const char* name_of(Policy policy) {
  switch (policy) {
    case Policy::first_come:
      return "first-come";
    case Policy::insertion:
      return "insertion";
    case Policy::posterior:
      return "posterior";
    case Policy::trained:
      return "trained";
    default:
      return "logged";
  }
}

std::vector<double> shown_by(selling::Seller& seller, const selling::Forecast& forecast,
                             const Situation& at, const Quoted& quoted, const Tastes& tastes,
                             const SegmentBelief& belief) {
  constexpr double kDayHours = 24;
  std::int32_t first = at.times.front().day;
  for (const SlotTime& time : at.times) { first = std::min(first, time.day); }
  const ChoiceModel model = tastes.model(at.times);
  const double revenue = at.call->revenue > 0 ? at.call->revenue : forecast.revenue;
  const SlotState state = state_of({.model = model,
                                    .belief = belief,
                                    .revenue = revenue,
                                    .hours_ahead = kDayHours * first - at.call->hour},
                                   quoted.plans, quoted.places, forecast);
  std::vector<double> fees;
  for (const selling::SlotAdvice& slot : seller.offer(state)) {
    fees.push_back(slot.show ? slot.fee : kWithheld);
  }
  return fees;
}

std::vector<double> shown_by(Policy policy, const Situation& at, std::span<const Wares> wares,
                             const Tastes& tastes, const SegmentBelief& belief) {
  std::vector<double> fees(wares.size(), kWithheld);
  Menu menu;
  if (policy == Policy::posterior) {
    const ChoiceModel model = tastes.model(at.times);
    menu = best_menu(model, belief, wares, tastes.knows_fees);
  }
  for (std::size_t s = 0; s < wares.size(); ++s) {
    const bool shown = policy == Policy::logged      ? s < at.call->menu.size()
                       : policy == Policy::insertion ? wares[s].margin > 0
                       : policy == Policy::posterior ? menu.shown[s]
                                                     : true;
    if (shown && wares[s].feasible) { fees[s] = wares[s].fee; }
  }
  if (menu.favoured >= 0) { fees[menu.favoured] -= menu.incentive; }
  return fees;
}

}  // namespace penstock::booking::demand
