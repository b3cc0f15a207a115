#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/page.h"
#include "penstock/tools/page/svg.h"

namespace penstock::booking::detail {
namespace {

using page::Axis;
using page::Svg;

/// What is known of each offer over all days.
struct OfferSums {
  std::array<std::int64_t, kNumOffers> made{};
  std::array<std::int64_t, kNumOffers> taken{};
  std::array<double, kNumOffers> saved{};         // in_unit(), by cheapest insertion, were it taken
  std::array<std::int64_t, kNumOffers> priced{};  // requests that fit both ways
  std::int64_t requests = 0;
};

OfferSums sums_of(const BookingLog& log) {
  OfferSums sums;
  for (const std::vector<OfferMade>& day : log.days) {
    for (const OfferMade& made : day) {
      const std::size_t action = made.action;
      ++sums.requests;
      ++sums.made[action];
      sums.taken[action] += made.taken ? 1 : 0;
      for (std::size_t a = 0; a < kNumOffers; ++a) {
        const Cost wished = made.prices[kNoChange];
        if (wished == Insertion::kNowhere || made.prices[a] == Insertion::kNowhere) { continue; }
        ++sums.priced[a];
        sums.saved[a] += in_unit(wished - made.prices[a], log.instance.unit);
      }
    }
  }
  return sums;
}

/// A cell of the 4 x 4 offers.
struct Cell {
  std::string text;
  double strength = 0;  // 0 to 1: how much colour
  std::string cls = "warm";
};

std::string grid(const std::string& title, const std::array<Cell, kNumOffers>& cells) {
  constexpr double kCell = 54;
  constexpr double kHeight = 36;
  constexpr double kLeft = 56;
  constexpr double kTop = 62;
  Svg svg(kLeft + 4 * kCell, kTop + 4 * kHeight + 4, title);
  svg.text(0, 14, title, "label strong");
  svg.text(kLeft + 2 * kCell, 36, "minutes later", "name mid");
  svg.text(0, 53, "earlier", "name");
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    const OfferedTime time = offered_time(a);
    const std::size_t row = a / 4;
    const double x = kLeft + kCell * (a % 4);
    const double y = kTop + kHeight * row;
    if (a < 4) { svg.text(x + kCell / 2, 53, fmt::format("{}", time.later / 60), "tick mid"); }
    if (a % 4 == 0) {
      svg.text(kLeft - 10, y + kHeight / 2 + 3, fmt::format("{}", time.earlier / 60), "tick end");
    }
    svg.rect(x, y, kCell - 3, kHeight - 3, cells[a].cls,
             fmt::format(R"(rx="4" fill-opacity="{:.3f}")", 0.06 + 0.6 * cells[a].strength));
    svg.text(x + kCell / 2 - 1.5, y + kHeight / 2 + 3, cells[a].text, "cell mid");
  }
  return svg.str();
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

std::string price_grid(const BookingLog& log, const BookingRules& rules) {
  const OfferSums sums = sums_of(log);
  const double paid = in_unit(rules.per_minute, rules.unit);
  std::array<double, kNumOffers> per_minute{};
  double widest = 1e-9;
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    const double minutes = offered_minutes(a);
    if (minutes == 0 || sums.priced[a] == 0) { continue; }
    per_minute[a] = sums.saved[a] / sums.priced[a] / minutes;
    widest = std::max(widest, std::abs(per_minute[a] - paid));
  }
  std::array<Cell, kNumOffers> cells;
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    if (a == kNoChange || sums.priced[a] == 0) {
      cells[a] = {"\u2013"};
      continue;
    }
    const double gain = per_minute[a] - paid;
    cells[a] = {page::number(per_minute[a], 3), std::abs(gain) / widest,
                gain >= 0 ? "warm" : "cool"};
  }
  return grid(fmt::format("{} per minute", name_of(rules.unit)), cells);
}

std::string made_grid(const BookingLog& log) {
  const OfferSums sums = sums_of(log);
  const auto most = static_cast<double>(std::max<std::int64_t>(1, std::ranges::max(sums.made)));
  std::array<Cell, kNumOffers> cells;
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    const double made = sums.made[a];
    const double share = sums.requests > 0 ? made / sums.requests : 0;
    cells[a] = {sums.made[a] == 0 ? "\u2013" : fmt::format("{:.1f} %", 100 * share), made / most,
                "shown"};
  }
  return grid("how often offered", cells);
}

std::string taken_grid(const BookingLog& log) {
  const OfferSums sums = sums_of(log);
  std::array<Cell, kNumOffers> cells;
  for (std::size_t a = 0; a < kNumOffers; ++a) {
    if (a == kNoChange || sums.made[a] == 0) {
      cells[a] = {"\u2013", 0, "good"};
      continue;
    }
    const double share = static_cast<double>(sums.taken[a]) / sums.made[a];
    cells[a] = {percent(share), share, "good"};
  }
  return grid("how often taken then", cells);
}

namespace {

struct HourSums {
  std::int64_t requests = 0;
  std::int64_t asked = 0;
  std::int64_t taken = 0;
};

/// By the hour of the wished time; the last one is for what lies beyond a day.
std::array<HourSums, 25> hours_of(const BookingLog& log) {
  std::array<HourSums, 25> hours{};
  for (const std::vector<OfferMade>& day : log.days) {
    for (const OfferMade& made : day) {
      const Seconds hour = std::clamp(made.wished[0].earliest / 3600, 0, 24);
      HourSums& sums = hours[hour];
      ++sums.requests;
      if (made.action == kNoChange) { continue; }
      ++sums.asked;
      sums.taken += made.taken ? 1 : 0;
    }
  }
  return hours;
}

}  // namespace

std::string hour_chart(const BookingLog& log) {
  const auto hours = hours_of(log);
  std::size_t first = hours.size();
  std::size_t last = 0;
  std::int64_t most = 1;
  for (std::size_t h = 0; h < hours.size(); ++h) {
    if (hours[h].requests == 0) { continue; }
    first = std::min(first, h);
    last = h;
    most = std::max(most, hours[h].requests);
  }
  Svg svg(860, 300, "Offers by the hour that was wished for");
  const Axis y(0, most * 1.12, 248, 34);
  const double width = first > last ? 1 : 790.0 / (last - first + 1);
  for (const double tick : y.ticks()) {
    svg.line(60, y(tick), 850, y(tick), "grid");
    svg.text(52, y(tick) + 4, y.label(tick), "tick end");
  }
  for (std::size_t h = first; h <= last && h < hours.size(); ++h) {
    const HourSums& sums = hours[h];
    const double x = 60 + width * (h - first);
    const double bar = std::min(width - 6, 44.0);
    const double left = x + (width - bar) / 2;
    const auto draw = [&](std::int64_t from, std::int64_t to, const char* cls) {
      const double top = y(to);
      if (to > from) { svg.rect(left, top, bar, y(from) - top, cls); }
    };
    draw(0, sums.taken, "good");
    draw(sums.taken, sums.asked, "bad");
    draw(sums.asked, sums.requests, "idle");
    if (sums.asked > 0) {
      svg.text(x + width / 2, y(sums.requests) - 6,
               percent(static_cast<double>(sums.taken) / sums.asked), "cell mid");
    }
    svg.text(x + width / 2, 266, fmt::format("{}", h), "tick mid");
  }
  svg.line(60, 248, 850, 248, "axis");
  svg.text(455, 288, "hour that was wished for", "name mid");
  svg.text(60, 16, "requests of all days", "name");
  return svg.str();
}

}  // namespace penstock::booking::detail
