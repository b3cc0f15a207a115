#include "domains/booking/service/advice.h"

#include <algorithm>
#include <cmath>
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

/// Without a revenue nothing is worth driving for, so everything is shown.
demand::Menu menu_of(const AdviceOn& on, const ChoiceModel& model,
                     std::span<const demand::Wares> wares, bool priced) {
  if (priced) { return best_menu(model, on.belief.tastes, wares, on.tastes.knows_fees); }
  demand::Menu all;
  std::fill_n(all.shown.begin(), wares.size(), true);
  return all;
}

void tell_menu(const demand::Menu& menu, const std::array<double, kMaxSlots>& chances,
               const std::vector<std::size_t>& numbers, std::vector<Priced>& priced) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    Json& told = priced[numbers[k]].told;
    told["chance"] = rounded_to(chances[k], kChanceDigits);
    told["show"] = menu.shown[k];
    if (menu.favoured == static_cast<std::int32_t>(k)) {
      told["incentive"] = rounded_to(menu.incentive, kCents);
    }
  }
}

}  // namespace

Json advise(const AdviceOn& on, std::vector<Priced>& priced) {
  for (Priced& one : priced) { tell_interval(on.saved, one); }
  const std::vector<std::size_t> numbers = best_slots(on, priced);
  Json advice = {{"by", on.belief.answers > 0 ? "posterior" : "prior"},
                 {"answers", on.belief.answers}};
  if (!numbers.empty()) {
    std::vector<SlotTime> times;
    std::vector<demand::Wares> wares;
    for (const std::size_t i : numbers) {
      const Slot& slot = on.slots[i];
      times.push_back(
          demand::seen_from(on.today, slot.date.empty() ? on.date : slot.date, slot.window));
      wares.push_back({.margin = margin_of(on, priced, i), .fee = on.slots[i].fee});
    }
    const ChoiceModel model = on.tastes.model(times);
    const bool has_revenue = priced[numbers.front()].revenue > 0;
    const demand::Menu menu = menu_of(on, model, wares, has_revenue);
    tell_menu(menu, chances_of_all(model, on.belief.tastes, wares), numbers, priced);
    if (has_revenue) {
      advice["margin"] = rounded_to(menu.margin, kCents);
      advice["margin_of_all"] = rounded_to(menu.margin_of_all, kCents);
    }
  }
  Json slots = Json::array();
  for (Priced& one : priced) { slots.push_back(std::move(one.told)); }
  return {{"slots", std::move(slots)}, {"advice", std::move(advice)}};
}

}  // namespace penstock::booking::service
