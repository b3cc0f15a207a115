#include "penstock/domains/booking/demand/menu.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace penstock::booking::demand {
namespace {

/// exp(utility) of each slot for each segment, and what a menu of them earns.
class MenuSums {
 public:
  MenuSums(const ChoiceModel& model, const SegmentBelief& belief, std::span<const Wares> wares)
      : model_(model), belief_(belief), wares_(wares) {
    for (std::size_t k = 0; k < model.num_segments(); ++k) {
      attraction_[k].fill(0);
      for (std::size_t s = 0; s < wares.size(); ++s) {
        if (wares[s].feasible) { attraction_[k][s] = std::exp(model.utility(k, s, wares[s].fee)); }
      }
    }
  }

  [[nodiscard]] double margin(const std::array<bool, kMaxSlots>& shown) const {
    double sum = 0;
    for (std::size_t k = 0; k < model_.num_segments(); ++k) {
      double earned = 0;
      double all = 1;
      for (std::size_t s = 0; s < wares_.size(); ++s) {
        if (!shown[s]) { continue; }
        all += attraction_[k][s];
        earned += attraction_[k][s] * wares_[s].margin;
      }
      sum += belief_[k] * earned / all;
    }
    return sum;
  }

  /// With an incentive for one of them.
  [[nodiscard]] double margin(const std::array<bool, kMaxSlots>& shown, std::size_t favoured,
                              double incentive) const {
    double sum = 0;
    for (std::size_t k = 0; k < model_.num_segments(); ++k) {
      const double drawn = std::exp(model_.segment(k).beta * incentive);
      double earned = 0;
      double all = 1;
      for (std::size_t s = 0; s < wares_.size(); ++s) {
        if (!shown[s]) { continue; }
        const bool this_one = s == favoured;
        const double attraction = attraction_[k][s] * (this_one ? drawn : 1);
        all += attraction;
        earned += attraction * (wares_[s].margin - (this_one ? incentive : 0));
      }
      sum += belief_[k] * earned / all;
    }
    return sum;
  }

 private:
  const ChoiceModel& model_;
  const SegmentBelief& belief_;
  std::span<const Wares> wares_;
  std::array<std::array<double, kMaxSlots>, kMaxSegments> attraction_{};
};

std::vector<std::size_t> by_margin(std::span<const Wares> wares) {
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < wares.size(); ++s) {
    if (wares[s].feasible) { order.push_back(s); }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return wares[a].margin > wares[b].margin; });
  return order;
}

void show_first(const MenuSums& sums, std::span<const std::size_t> order, Menu& menu) {
  std::array<bool, kMaxSlots> shown{};
  for (const std::size_t s : order) {
    shown[s] = true;
    const double margin = sums.margin(shown);
    if (margin > menu.margin) {
      menu.margin = margin;
      menu.shown = shown;
    }
  }
  menu.margin_of_all = sums.margin(shown);
}

/// Whether one slot more or less gains anything.
bool exchange_one(const MenuSums& sums, std::span<const std::size_t> order, Menu& menu) {
  bool gained = false;
  for (const std::size_t s : order) {
    menu.shown[s] = !menu.shown[s];
    const double margin = sums.margin(menu.shown);
    if (margin > menu.margin) {
      menu.margin = margin;
      gained = true;
    } else {
      menu.shown[s] = !menu.shown[s];
    }
  }
  return gained;
}

/// Tenths of a slot's margin, one slot after the other.
void add_incentive(const MenuSums& sums, std::span<const Wares> wares, Menu& menu) {
  constexpr int kSteps = 6;
  constexpr double kStep = 0.1;
  for (std::size_t s = 0; s < wares.size(); ++s) {
    if (!menu.shown[s]) { continue; }
    for (int i = 1; i <= kSteps; ++i) {
      const double incentive = kStep * i * wares[s].margin;
      const double margin = sums.margin(menu.shown, s, incentive);
      if (margin <= menu.margin) { continue; }
      menu.margin = margin;
      menu.favoured = s;
      menu.incentive = incentive;
    }
  }
}

}  // namespace

std::array<double, kMaxSlots> chances_of_all(const ChoiceModel& model, const SegmentBelief& belief,
                                             std::span<const Wares> wares) {
  std::array<double, kMaxSlots> fees{};
  for (std::size_t s = 0; s < wares.size(); ++s) {
    fees[s] = wares[s].feasible ? wares[s].fee : kWithheld;
  }
  std::array<double, kMaxSlots> chances{};
  model.chances(belief, fees, chances);
  return chances;
}

Menu best_menu(const ChoiceModel& model, const SegmentBelief& belief, std::span<const Wares> wares,
               bool incentives) {
  const MenuSums sums(model, belief, wares);
  const std::vector<std::size_t> order = by_margin(wares);
  Menu menu;
  show_first(sums, order, menu);
  constexpr int kMostRounds = 4;
  for (int round = 0; round < kMostRounds && exchange_one(sums, order, menu); ++round) {}
  if (incentives) { add_incentive(sums, wares, menu); }
  return menu;
}

}  // namespace penstock::booking::demand
