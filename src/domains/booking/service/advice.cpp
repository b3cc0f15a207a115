#include "domains/booking/service/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "penstock/domains/booking/demand/menu.h"

namespace penstock::booking::service {
namespace {

constexpr double kCents = 100;
constexpr double kChanceDigits = 1e4;

double rounded_to(double value, double per) { return std::round(value * per) / per; }

double margin_of(const AdviceOn& on, const std::vector<Priced>& priced, std::size_t slot) {
  return priced[slot].revenue + on.slots[slot].fee - priced[slot].cost;
}

/// The numbers of those to advise on: what is feasible, the best kMaxSlots of it.
std::vector<std::size_t> best_slots(const AdviceOn& on, const std::vector<Priced>& priced) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < priced.size(); ++i) {
    if (priced[i].feasible) { numbers.push_back(i); }
  }
  if (numbers.size() <= kMaxSlots) { return numbers; }
  std::stable_sort(numbers.begin(), numbers.end(), [&](std::size_t a, std::size_t b) {
    return margin_of(on, priced, a) > margin_of(on, priced, b);
  });
  numbers.resize(kMaxSlots);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void tell_interval(double saved, Priced& one) {
  if (!one.feasible) { return; }
  one.told["cost_interval"] = {rounded_to(one.cost * (1 - saved), kCents),
                               rounded_to(one.cost, kCents)};
  one.told["show"] = false;
}

/// What of the quotes is advised on: which they are, and how customers see them.
struct Shelf {
  std::vector<std::size_t> numbers;  // of the quotes
  std::vector<demand::Wares> wares;  // [numbers]
  ChoiceModel model;
};

Shelf shelf_of(const AdviceOn& on, const std::vector<Priced>& priced,
               std::vector<std::size_t> numbers) {
  std::vector<SlotTime> times;
  std::vector<demand::Wares> wares;
  for (const std::size_t i : numbers) {
    const Slot& slot = on.slots[i];
    times.push_back(
        demand::seen_from(on.today, slot.date.empty() ? on.date : slot.date, slot.window));
    wares.push_back(
        {.margin = margin_of(on, priced, i), .fee = slot.fee, .feasible = priced[i].feasible});
  }
  return {
      .numbers = std::move(numbers), .wares = std::move(wares), .model = on.tastes.model(times)};
}

/// Without a revenue nothing is worth driving for, so everything is shown. Returns the expected
/// margin.
double tell_menu(const AdviceOn& on, const Shelf& shelf, std::vector<Priced>& priced) {
  demand::Menu menu;
  if (priced[shelf.numbers.front()].revenue > 0) {
    menu = best_menu(shelf.model, on.belief.tastes, shelf.wares, on.tastes.knows_fees);
  } else {
    std::fill_n(menu.shown.begin(), shelf.numbers.size(), true);
  }
  for (std::size_t k = 0; k < shelf.numbers.size(); ++k) {
    Json& told = priced[shelf.numbers[k]].told;
    told["show"] = menu.shown[k];
    if (menu.favoured == static_cast<std::int32_t>(k)) {
      told["incentive"] = rounded_to(menu.incentive, kCents);
    }
  }
  return menu.margin;
}

/// What the network shows, and for what. It is told of slots that do not fit too, as far as there
/// is room. Returns the expected margin.
double tell_sale(const AdviceOn& on, const Shelf& fitting, std::vector<Priced>& priced) {
  std::vector<std::size_t> all(priced.size());
  std::iota(all.begin(), all.end(), 0);
  const Shelf shelf = shelf_of(on, priced, all.size() <= kMaxSlots ? all : fitting.numbers);
  std::vector<selling::SlotPlace> places;
  for (const std::size_t i : shelf.numbers) { places.push_back(on.sale->places[i]); }
  const SlotState state = state_of({.model = shelf.model,
                                    .belief = on.belief.tastes,
                                    .revenue = priced.front().revenue,
                                    .hours_ahead = on.sale->hours_ahead,
                                    .ride = on.sale->ride},
                                   on.sale->plans, places, on.sale->forecast);
  const auto advice = on.sale->seller.offer(state);
  std::array<double, kMaxSlots> fees{};
  for (std::size_t k = 0; k < advice.size(); ++k) {
    fees[k] = advice[k].show ? advice[k].fee : kWithheld;
    if (!advice[k].show) { continue; }
    Json& told = priced[shelf.numbers[k]].told;
    told["show"] = true;
    told["fee"] = advice[k].fee;
    told["opportunity"] = rounded_to(advice[k].opportunity, kCents);
  }
  std::array<double, kMaxSlots> chances{};
  shelf.model.chances(on.belief.tastes, fees, chances);
  double margin = 0;
  for (std::size_t k = 0; k < advice.size(); ++k) {
    const demand::Wares& one = shelf.wares[k];
    if (advice[k].show) { margin += chances[k] * (one.margin - one.fee + advice[k].fee); }
  }
  return margin;
}

/// The chances when all is shown that fits. Returns what that is expected to leave.
double tell_chances(const AdviceOn& on, const Shelf& shelf, std::vector<Priced>& priced) {
  const auto chances = chances_of_all(shelf.model, on.belief.tastes, shelf.wares);
  double margin = 0;
  for (std::size_t k = 0; k < shelf.numbers.size(); ++k) {
    priced[shelf.numbers[k]].told["chance"] = rounded_to(chances[k], kChanceDigits);
    margin += chances[k] * shelf.wares[k].margin;
  }
  return margin;
}

}  // namespace

Json advise(const AdviceOn& on, std::vector<Priced>& priced) {
  for (Priced& one : priced) { tell_interval(on.saved, one); }
  Json advice = {{"by", on.belief.answers > 0 ? "posterior" : "prior"},
                 {"answers", on.belief.answers}};
  if (on.sale != nullptr) { advice["policy"] = on.sale->seller.name(); }
  if (std::vector<std::size_t> numbers = best_slots(on, priced); !numbers.empty()) {
    const Shelf shelf = shelf_of(on, priced, std::move(numbers));
    const double margin_of_all = tell_chances(on, shelf, priced);
    const double margin =
        on.sale != nullptr ? tell_sale(on, shelf, priced) : tell_menu(on, shelf, priced);
    if (priced.front().revenue > 0) {
      advice["margin"] = rounded_to(margin, kCents);
      advice["margin_of_all"] = rounded_to(margin_of_all, kCents);
    }
  }
  Json slots = Json::array();
  for (Priced& one : priced) { slots.push_back(std::move(one.told)); }
  return {{"slots", std::move(slots)}, {"advice", std::move(advice)}};
}

}  // namespace penstock::booking::service
