#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/page.h"
#include "penstock/tools/page/svg.h"

namespace penstock::booking::detail {
namespace {

using page::Axis;
using page::Svg;

constexpr double kRow = 26;
constexpr double kSavingWidth = 860;

/// What a policy saves a day against null, with the paired interval.
struct Saved {
  std::string name;
  Interval cost;
};

std::vector<Saved> saved_of(const ReportInput& input) {
  std::vector<Saved> all;
  for (const PolicyScore& score : input.evaluation.policies) {
    if (score.name == "null") { continue; }
    const Interval more = line_of(input.evaluation, score).difference_cost;
    all.push_back({score.name, {-more.mean, -more.high, -more.low}});
  }
  return all;
}

double bound_saving(const ReportInput& input) {
  double sum = 0;
  const std::vector<DayScore>& days = input.evaluation.policy("null").days;
  for (std::size_t i = 0; i < days.size(); ++i) {
    sum += in_unit(days[i].cost - input.bound.costs[i], input.rules.unit);
  }
  return sum / days.size();
}

}  // namespace

std::string saving_chart(const ReportInput& input) {
  const std::vector<Saved> all = saved_of(input);
  const double bound = bound_saving(input);
  const char* unit = name_of(input.rules.unit);
  double low = std::min(0.0, bound);
  double high = std::max(0.0, bound);
  for (const Saved& saved : all) {
    low = std::min(low, saved.cost.low);
    high = std::max(high, saved.cost.high);
  }
  const double margin = (high - low) * 0.04 + 1e-6;
  const double bottom = 34 + kRow * static_cast<double>(all.size());
  Svg svg(kSavingWidth, bottom + 46, "Saved against null");
  const Axis x(low - margin, high + margin, 130, kSavingWidth - 20, 8);
  for (const double tick : x.ticks()) {
    svg.line(x(tick), 22, x(tick), bottom, "grid");
    svg.text(x(tick), bottom + 18, x.label(tick), "tick mid");
  }
  svg.line(x(0), 22, x(0), bottom, "axis");
  svg.line(x(bound), 22, x(bound), bottom, "limit");
  svg.text(x(bound), 14, "bound", "name mid");
  double y = 22 + kRow / 2 + 4;
  for (const Saved& saved : all) {
    const std::string kind = saved.name == input.shown ? "shown" : "other";
    svg.text(118, y + 4, saved.name, "label end");
    svg.line(x(saved.cost.low), y, x(saved.cost.high), y, "whisker " + kind);
    svg.circle(x(saved.cost.mean), y, 4.5, "dot " + kind,
               fmt::format("{}: {} {} a day ({} to {})", saved.name, page::number(saved.cost.mean),
                           unit, page::number(saved.cost.low), page::number(saved.cost.high)));
    y += kRow;
  }
  svg.line(x.from(), bottom, x.to(), bottom, "axis");
  svg.text((x.from() + x.to()) / 2, bottom + 38,
           fmt::format("{} saved a day against null, 95 % interval of the paired difference", unit),
           "name mid");
  return svg.str();
}

}  // namespace penstock::booking::detail
