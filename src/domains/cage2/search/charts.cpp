#include "domains/cage2/search/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/tools/page/svg.h"

namespace penstock::cage2::detail {
namespace {

using page::Axis;
using page::Points;
using page::Svg;

constexpr double kNormal95 = 1.96;

/// Of what is drawn along one axis.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) { return; }
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// With a margin; 0 to 1 when nothing was added.
  [[nodiscard]] Extent padded(double share = 0.04) const {
    if (low > high) { return {0, 1}; }
    const double margin = std::max((high - low) * share, 1e-6);
    return {low - margin, high + margin};
  }
};

// The five types as small coloured boxes.
void chips(Svg& svg, double x, double y, const Order& order) {
  static constexpr std::array<const char*, 5> kShort = {"def", "ent", "srv", "ops", "usr"};
  constexpr double kWidth = 32;
  for (int p = 0; p < 5; ++p) {
    const double left = x + p * (kWidth + 2);
    svg.rect(left, y - 8, kWidth, 16, fmt::format("type{}", order[p]), "rx=\"3\"");
    svg.text(left + kWidth / 2, y + 4, kShort.at(order[p]), "chip mid");
  }
}

struct Bar {
  std::string label;  // empty: the order's chips
  const WorkflowResult* result;
  bool counts;
  bool baseline;
};

std::string describe(const WorkflowResult& r) {
  return fmt::format("{}: {:.2f} ± {:.2f}, compliance {:.1f} %", order_text(r.order), r.mean_return,
                     kNormal95 * r.std_error, 100 * r.compliance);
}

std::vector<Bar> bars_of(const SearchOptions& options, const SearchResult& result) {
  constexpr std::size_t kMost = 40;
  std::vector<Bar> bars;
  for (const int place : result.ranking) {
    if (bars.size() == kMost) { break; }
    const WorkflowResult& r = result.trials[place].result;
    bars.push_back({"", &r, usable(options, r), false});
  }
  if (!result.baselines) { return bars; }
  for (const WorkflowResult& r : result.baselines->fixed) {
    bars.push_back({"", &r, usable(options, r), true});
  }
  bars.push_back({"PPO without an order", &result.baselines->unconditioned, true, true});
  return bars;
}

void draw_bar(Svg& svg, const Axis& x, double y, const Bar& bar, const search::Posterior& belief) {
  const WorkflowResult& r = *bar.result;
  if (bar.label.empty()) {
    chips(svg, 40, y, r.order);
    const int index = search::index_of(r.order);
    const double half = kNormal95 * belief.std[index];
    const double from = std::max(belief.mean[index] - half, x.low());
    const double to = std::min(belief.mean[index] + half, x.high());
    if (!bar.baseline && to > from) { svg.line(x(from), y, x(to), y, "belief"); }
  } else {
    svg.text(40, y + 4, bar.label, "label");
  }
  svg.text(226, y + 4, fmt::format("{:.0f} %", 100 * r.compliance),
           bar.counts ? "tick" : "tick stray");
  if (!std::isfinite(r.mean_return)) { return; }
  const std::string kind = bar.baseline ? "base" : bar.counts ? "search" : "stray";
  const double half = kNormal95 * r.std_error;
  if (std::isfinite(half)) {
    svg.line(x(r.mean_return - half), y, x(r.mean_return + half), y, "whisker " + kind);
  }
  svg.circle(x(r.mean_return), y, 4.5, bar.counts ? "dot " + kind : "ring " + kind, describe(r));
}

Extent extent_of(const std::vector<Bar>& bars) {
  Extent extent;
  for (const Bar& bar : bars) {
    extent.add(bar.result->mean_return - kNormal95 * bar.result->std_error);
    extent.add(bar.result->mean_return + kNormal95 * bar.result->std_error);
  }
  return extent.padded();
}

}  // namespace

std::string ranking_chart(const SearchOptions& options, const SearchResult& result) {
  constexpr double kRow = 22;
  constexpr double kWidth = 860;
  const std::vector<Bar> bars = bars_of(options, result);
  const double bottom = 34 + kRow * bars.size() + 10;
  Svg svg(kWidth, bottom + 48, "Ranking of the evaluated orders");
  const Extent extent = extent_of(bars);
  const Axis x(extent.low, extent.high, 280, kWidth - 20, 7);
  for (const double tick : x.ticks()) { svg.line(x(tick), 24, x(tick), bottom, "grid"); }
  svg.text(40, 14, "order, the first type first", "name");
  svg.text(216, 14, "complied", "name");
  double y = 34;
  for (std::size_t i = 0; i < bars.size(); ++i, y += kRow) {
    if (!bars[i].baseline) { svg.text(26, y + 4, fmt::format("{}", i + 1), "tick end"); }
    if (bars[i].baseline && (i == 0 || !bars[i - 1].baseline)) {
      svg.line(10, y - kRow / 2, kWidth - 20, y - kRow / 2, "axis");
    }
    draw_bar(svg, x, y, bars[i], result.belief.posterior);
  }
  svg.line(x.from(), bottom, x.to(), bottom, "axis");
  for (const double tick : x.ticks()) { svg.text(x(tick), bottom + 18, x.label(tick), "tick mid"); }
  svg.text((x.from() + x.to()) / 2, bottom + 38, "mean return, 95 % interval", "name mid");
  return svg.str();
}

std::string heat_map(const std::array<double, search::kNumOrders>& values,
                     const std::string& title) {
  std::array<std::array<double, 5>, 5> mean{};  // [type][position]
  std::array<std::array<int, 5>, 5> count{};
  double sum = 0;
  int finite = 0;
  for (int i = 0; i < search::kNumOrders; ++i) {
    if (!std::isfinite(values[i])) { continue; }
    sum += values[i];
    ++finite;
    for (int p = 0; p < 5; ++p) {
      mean[search::all_orders()[i][p]][p] += values[i];
      ++count[search::all_orders()[i][p]][p];
    }
  }
  const double centre = finite > 0 ? sum / finite : 0;
  double widest = 1e-9;
  for (int type = 0; type < 5; ++type) {
    for (int p = 0; p < 5; ++p) {
      mean[type][p] = count[type][p] > 0 ? mean[type][p] / count[type][p] : centre;
      widest = std::max(widest, std::abs(mean[type][p] - centre));
    }
  }
  constexpr double kCell = 58;
  constexpr double kHeight = 38;
  Svg svg(420, 262, title);
  svg.text(0, 14, title, "label");
  for (int p = 0; p < 5; ++p) {
    svg.text(100 + (p + 0.5) * kCell, 44,
             p == 0   ? "first"
             : p == 4 ? "last"
                      : fmt::format("{}", p + 1),
             "tick mid");
  }
  for (int type = 0; type < 5; ++type) {
    const double y = 52 + type * kHeight;
    svg.rect(0, y + kHeight / 2 - 6, 10, 10, fmt::format("type{}", type), "rx=\"2\"");
    svg.text(16, y + kHeight / 2 + 3, std::string(kTypeNames.at(type)), "label");
    for (int p = 0; p < 5; ++p) {
      const double off = mean[type][p] - centre;
      svg.rect(
          100 + p * kCell, y, kCell - 3, kHeight - 3, off >= 0 ? "warm" : "cool",
          fmt::format("rx=\"4\" fill-opacity=\"{:.3f}\"", 0.06 + 0.66 * std::abs(off) / widest));
      svg.text(100 + (p + 0.5) * kCell - 1.5, y + kHeight / 2 + 3,
               fmt::format("{}{:.2f}", off >= 0 ? "+" : "\u2212", std::abs(off)), "cell mid");
    }
  }
  return svg.str();
}

namespace {

Points points_of(const std::vector<Interval>& intervals, double Interval::*part, const Axis& x,
                 const Axis& y) {
  Points points;
  for (std::size_t t = 0; t < intervals.size(); ++t) {
    points.emplace_back(x(t + 1.0), y(std::clamp(intervals[t].*part, y.low(), y.high())));
  }
  return points;
}

void draw_intervals(Svg& svg, const std::vector<Interval>& intervals, const Axis& x, const Axis& y,
                    const std::string& kind) {
  svg.band(points_of(intervals, &Interval::low, x, y), points_of(intervals, &Interval::high, x, y),
           "band " + kind);
  svg.path(points_of(intervals, &Interval::mean, x, y), "curve " + kind);
}

Points line_of(const std::vector<double>& values, const Axis& x, const Axis& y) {
  Points points;
  for (std::size_t t = 0; t < values.size(); ++t) {
    if (std::isfinite(values[t])) { points.emplace_back(x(t + 1.0), y(values[t])); }
  }
  return points;
}

// Not a number until something counts.
std::vector<double> best_so_far(const SearchOptions& options, const std::vector<Trial>& trials) {
  std::vector<double> best;
  double now = std::numeric_limits<double>::quiet_NaN();
  for (const Trial& trial : trials) {
    if (usable(options, trial.result)) { now = std::fmax(now, trial.result.mean_return); }
    best.push_back(now);
  }
  return best;
}

std::string regret_chart(const Regret& regret) {
  Extent extent{0, 0};
  for (const double value : regret.own) { extent.add(value); }
  for (const auto& each : regret.search) { extent.add(each.high); }
  for (const auto& each : regret.random) { extent.add(each.high); }
  Svg svg(860, 330, "Simple regret by number of evaluations");
  const Axis x(1, regret.own.size(), 60, 840, 10);
  const Axis y(0, std::max(extent.high * 1.04, 1e-6), 280, 40);
  svg.frame(x, y, "evaluations", "simple regret");
  draw_intervals(svg, regret.random, x, y, "random");
  draw_intervals(svg, regret.search, x, y, "search");
  svg.path(line_of(regret.own, x, y), "curve own");
  return svg.str();
}

}  // namespace

std::string progress_chart(const SearchOptions& options, const SearchResult& result) {
  if (result.truth && result.truth->regret) { return regret_chart(*result.truth->regret); }
  const std::vector<double> search = best_so_far(options, result.trials);
  std::vector<double> random;
  if (result.baselines) { random = best_so_far(options, result.baselines->random); }
  Extent extent;
  for (const double value : search) { extent.add(value); }
  for (const double value : random) { extent.add(value); }
  extent = extent.padded();
  Svg svg(860, 330, "Best mean return by number of evaluations");
  const Axis x(1, search.size(), 60, 840, 10);
  const Axis y(extent.low, extent.high, 280, 40);
  svg.frame(x, y, "evaluations", "best mean return so far");
  svg.path(line_of(random, x, y), "curve random");
  svg.path(line_of(search, x, y), "curve search");
  return svg.str();
}

std::string belief_chart(const SearchOptions& options, const SearchResult& result) {
  const search::Posterior& belief = result.belief.posterior;
  const std::vector<int> order = search::ranked(belief.mean);
  Extent extent;
  for (int i = 0; i < search::kNumOrders; ++i) {
    extent.add(belief.mean[i] - kNormal95 * belief.std[i]);
    extent.add(belief.mean[i] + kNormal95 * belief.std[i]);
  }
  if (result.truth) {
    for (const WorkflowResult& r : result.truth->all) { extent.add(r.mean_return); }
  }
  extent = extent.padded();
  Svg svg(860, 340, "Belief of all orders");
  const Axis x(0, search::kNumOrders + 1, 60, 840, 12);
  const Axis y(extent.low, extent.high, 290, 40);
  svg.frame(x, y, "orders by falling belief", "mean return");
  Points low;
  Points mean;
  Points high;
  for (int rank = 0; rank < search::kNumOrders; ++rank) {
    const int i = order[rank];
    low.emplace_back(x(rank + 1), y(belief.mean[i] - kNormal95 * belief.std[i]));
    mean.emplace_back(x(rank + 1), y(belief.mean[i]));
    high.emplace_back(x(rank + 1), y(belief.mean[i] + kNormal95 * belief.std[i]));
  }
  svg.band(low, high, "band search");
  svg.path(mean, "curve search");
  std::array<int, search::kNumOrders> rank_of{};
  for (int rank = 0; rank < search::kNumOrders; ++rank) { rank_of[order[rank]] = rank + 1; }
  if (result.truth) {
    for (int i = 0; i < search::kNumOrders; ++i) {
      const WorkflowResult& r = result.truth->all[i];
      if (std::isfinite(r.mean_return)) {
        svg.circle(x(rank_of[i]), y(r.mean_return), 2.2, "dot truth", describe(r));
      }
    }
  }
  for (const Trial& trial : result.trials) {
    const WorkflowResult& r = trial.result;
    if (!std::isfinite(r.mean_return) || r.mean_return < y.low() || r.mean_return > y.high()) {
      continue;
    }
    svg.circle(x(rank_of[trial.index]), y(r.mean_return), 4,
               usable(options, r) ? "dot search" : "ring stray", describe(r));
  }
  return svg.str();
}

std::string curve_chart(const SearchOptions& options, const SearchResult& result, CurveKind kind) {
  const bool reward = kind == CurveKind::reward;
  const auto value_of = [&](const CurvePoint& p) { return reward ? p.reward : 100 * p.compliance; };
  Extent steps;
  Extent values;
  std::vector<const WorkflowResult*> all;  // the best last, on top
  for (auto place = result.ranking.rbegin(); place != result.ranking.rend(); ++place) {
    all.push_back(&result.trials[*place].result);
  }
  if (result.baselines) { all.push_back(&result.baselines->unconditioned); }
  for (const WorkflowResult* each : all) {
    for (const CurvePoint& point : each->curve) {
      steps.add(point.steps);
      values.add(value_of(point));
    }
  }
  if (!reward) { values = {0, 100}; }
  values = reward ? values.padded() : values;
  Svg svg(420, 320, reward ? "Learning curves" : "Compliance while learning");
  const Axis x(0, steps.low > steps.high ? 1 : steps.high, 52, 408, 4);
  const Axis y(values.low, values.high, 270, 40);
  svg.frame(x, y, "training steps", reward ? "episode return" : "compliance, %");
  const auto draw = [&](const WorkflowResult& r, const std::string& cls) {
    Points points;
    for (const CurvePoint& point : r.curve) {
      const double value = value_of(point);
      if (std::isfinite(value)) { points.emplace_back(x(point.steps), y(value)); }
    }
    svg.path(points, cls, describe(r));
  };
  if (!reward) {
    const double threshold = y(100 * options.job.compliance_threshold);
    svg.line(x.from(), threshold, x.to(), threshold, "threshold");
  }
  const WorkflowResult* best = result.best ? &result.trials[*result.best].result : nullptr;
  for (const WorkflowResult* each : all) {
    if (each == best || (result.baselines && each == &result.baselines->unconditioned)) {
      continue;
    }
    draw(*each, usable(options, *each) ? "thin" : "thin stray");
  }
  if (result.baselines) { draw(result.baselines->unconditioned, "curve base"); }
  if (best != nullptr) { draw(*best, "curve search"); }
  return svg.str();
}

}  // namespace penstock::cage2::detail
