#include "domains/cage2/search/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "domains/cage2/search/gp_ucb.h"
#include "penstock/core/base/student.h"
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
  double half;  // of the interval
  bool counts;
  bool baseline;
};

std::string describe(const WorkflowResult& r, double half) {
  return fmt::format("{}: {:.2f} ± {:.2f}, compliance {:.1f} %", order_text(r.order), r.mean_return,
                     half, 100 * r.compliance);
}

std::vector<Bar> bars_of(const SearchOptions& options, const SearchResult& result) {
  constexpr std::size_t kMost = 40;
  std::vector<Bar> bars;
  const auto add = [&](const std::string& label, const Measured& order, const Noise& noise,
                       bool baseline) {
    const WorkflowResult& r = order.result;
    bars.push_back(
        {label, &r, half_width(r, noise), !label.empty() || usable(options, r), baseline});
  };
  for (const int place : result.ranking) {
    if (bars.size() == kMost) { break; }
    add("", result.measured[place], result.noise, false);
  }
  if (!result.baselines) { return bars; }
  const Noise noise = noise_of(result.baselines->fixed);
  for (const Measured& order : result.baselines->fixed) { add("", order, noise, true); }
  const Measured& plain = result.baselines->unconditioned;
  add("PPO without an order", plain, noise_of({plain}), true);
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
  if (std::isfinite(bar.half)) {
    svg.line(x(r.mean_return - bar.half), y, x(r.mean_return + bar.half), y, "whisker " + kind);
  }
  svg.circle(x(r.mean_return), y, 4.5, bar.counts ? "dot " + kind : "ring " + kind,
             describe(r, bar.half));
}

Extent extent_of(const std::vector<Bar>& bars) {
  Extent extent;
  for (const Bar& bar : bars) {
    extent.add(bar.result->mean_return - bar.half);
    extent.add(bar.result->mean_return + bar.half);
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

namespace {

/// Half of a 95 % interval, in standard errors.
double in_errors(const Noise& noise) {
  return noise.freedom > 0 ? student_quantile(static_cast<std::size_t>(noise.freedom)) : kNormal95;
}

/// Of a mean over some orders, against that over all: 1/k - 1/n and -1/n.
std::optional<search::Weights> weights_of(const std::vector<int>& orders, int type, int place) {
  const auto has_type = [&](int index) { return search::all_orders()[index][place] == type; };
  const auto k = std::ranges::count_if(orders, has_type);
  const auto n = std::ssize(orders);
  if (k == 0 || k == n) { return {}; }
  search::Weights weights{};
  for (const int index : orders) {
    weights[index] =
        (has_type(index) ? 1.0 / static_cast<double>(k) : 0.0) - 1.0 / static_cast<double>(n);
  }
  return weights;
}

template <class CellOf>
HeatMap heat_of(const std::vector<int>& orders, CellOf cell_of) {
  HeatMap cells;
  for (int type = 0; type < 5; ++type) {
    for (int place = 0; place < 5; ++place) {
      const auto weights = weights_of(orders, type, place);
      if (weights) { cells[type][place] = cell_of(*weights); }
    }
  }
  return cells;
}

void draw_cell(Svg& svg, double x, double y, const HeatCell& cell, double widest) {
  constexpr double kWidth = 55;
  constexpr double kHeight = 35;
  const bool shown = cell.replicated && cell.told && std::abs(cell.mean) > cell.half;
  const double opacity = shown ? 0.06 + 0.66 * std::abs(cell.mean) / widest : 0;
  svg.rect(x, y, kWidth, kHeight, cell.mean >= 0 ? "warm" : "cool",
           fmt::format(R"(rx="4" fill-opacity="{:.3f}")", opacity));
  if (!cell.told) { return; }
  svg.text(x + kWidth / 2, y + 15,
           fmt::format("{}{:.2f}", cell.mean >= 0 ? "+" : "\u2212", std::abs(cell.mean)),
           "cell mid");
  svg.text(x + kWidth / 2, y + 29, fmt::format("± {:.2f}", cell.half), "tick mid");
}

}  // namespace

HeatMap believed_heat(const SearchResult& result) {
  const Belief& belief = result.belief;
  return heat_of(result.candidates, [&](const search::Weights& weights) -> HeatCell {
    const search::Contrast found = search::contrast(belief.data, belief.hyper, weights);
    return {found.mean, in_errors(result.noise) * found.std, !belief.data.empty(),
            result.noise.freedom > 0};
  });
}

HeatMap true_heat(const SearchOptions& options, const SearchResult& result) {
  std::vector<int> counted;
  for (const Measured& order : result.truth->all) {
    if (usable(options, order.result)) { counted.push_back(order.index); }
  }
  const Noise noise = noise_of(result.truth->all);
  return heat_of(counted, [&](const search::Weights& weights) -> HeatCell {
    double mean = 0;
    double variance = 0;
    for (const Measured& order : result.truth->all) {
      const double weight = weights[order.index];
      if (weight == 0) { continue; }
      mean += weight * order.result.mean_return;
      variance += std::pow(weight * order.result.std_error, 2);
    }
    return {mean, in_errors(noise) * std::sqrt(variance), true, noise.freedom > 0};
  });
}

std::string heat_map(const HeatMap& cells, const std::string& title) {
  double widest = 1e-9;
  for (const auto& row : cells) {
    for (const HeatCell& cell : row) { widest = std::max(widest, std::abs(cell.mean)); }
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
    for (int p = 0; p < 5; ++p) { draw_cell(svg, 100 + p * kCell, y, cells[type][p], widest); }
  }
  return svg.str();
}

namespace {

/// What holds until the next evaluation, as a staircase.
Points stepped(const Points& points) {
  Points steps;
  for (const auto& [x, y] : points) {
    if (!steps.empty()) { steps.emplace_back(x, steps.back().second); }
    steps.emplace_back(x, y);
  }
  return steps;
}

/// Over whole numbers of evaluations.
Axis evaluations_axis(std::size_t count) {
  const int whole = std::clamp(static_cast<int>(count) - 1, 1, 10);
  return {1, static_cast<double>(count), 60, 840, whole};
}

Points points_of(const std::vector<Interval>& intervals, double Interval::*part, const Axis& x,
                 const Axis& y) {
  Points points;
  for (std::size_t t = 0; t < intervals.size(); ++t) {
    points.emplace_back(x(t + 1.0), y(std::clamp(intervals[t].*part, y.low(), y.high())));
  }
  return stepped(points);
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
  return stepped(points);
}

/// What was measured, by then, of the order that was best by then. Not a number until something
/// counts.
std::vector<double> best_so_far(const SearchOptions& options, const std::vector<Trial>& trials) {
  std::vector<double> best;
  std::vector<Trial> so_far;
  for (const Trial& trial : trials) {
    so_far.push_back(trial);
    const std::vector<Measured> seen = measured_of(so_far);
    const std::optional<int> now = best_of(options, seen);
    best.push_back(now ? seen[*now].result.mean_return : std::numeric_limits<double>::quiet_NaN());
  }
  return best;
}

std::string regret_chart(const Regret& regret) {
  Extent extent{0, 0};
  for (const double value : regret.own) { extent.add(value); }
  for (const auto& each : regret.search) { extent.add(each.high); }
  for (const auto& each : regret.random) { extent.add(each.high); }
  Svg svg(860, 330, "Simple regret by number of evaluations");
  const Axis x = evaluations_axis(regret.own.size());
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
  const Axis x = evaluations_axis(search.size());
  const Axis y(extent.low, extent.high, 280, 40);
  svg.frame(x, y, "evaluations", "mean return of the best so far");
  svg.path(line_of(random, x, y), "curve random");
  svg.path(line_of(search, x, y), "curve search");
  return svg.str();
}

namespace {

/// The candidates, the most believed first.
std::vector<int> by_belief(const SearchResult& result) {
  std::vector<int> order = result.candidates;
  std::ranges::stable_sort(order, std::greater{},
                           [&](int i) { return result.belief.posterior.mean[i]; });
  return order;
}

Extent extent_of_belief(const SearchResult& result) {
  const search::Posterior& belief = result.belief.posterior;
  Extent extent;
  for (const int i : result.candidates) {
    extent.add(belief.mean[i] - kNormal95 * belief.std[i]);
    extent.add(belief.mean[i] + kNormal95 * belief.std[i]);
  }
  if (result.truth) {
    for (const Measured& order : result.truth->all) { extent.add(order.result.mean_return); }
  }
  return extent.padded();
}

}  // namespace

std::string belief_chart(const SearchOptions& options, const SearchResult& result) {
  const search::Posterior& belief = result.belief.posterior;
  const std::vector<int> order = by_belief(result);
  const Extent extent = extent_of_belief(result);
  Svg svg(860, 340, "Belief of all orders");
  const Axis x(0, static_cast<double>(order.size()) + 1, 60, 840, 12);
  const Axis y(extent.low, extent.high, 290, 40);
  svg.frame(x, y, "orders by falling belief", "mean return");
  std::map<int, double> place_of;  // on the axis
  for (const int i : order) {
    const double at = x(static_cast<double>(place_of.size()) + 1);
    const double half = kNormal95 * belief.std[i];
    svg.line(at, y(belief.mean[i] - half), at, y(belief.mean[i] + half), "believed");
    svg.line(at - 3, y(belief.mean[i]), at + 3, y(belief.mean[i]), "whisker search");
    place_of[i] = at;
  }
  const auto inside = [&](double value) { return value >= y.low() && value <= y.high(); };
  const auto dot = [&](const Measured& each, const Noise& noise, double radius, const char* cls) {
    const WorkflowResult& r = each.result;
    if (!inside(r.mean_return)) { return; }
    svg.circle(place_of.at(each.index), y(r.mean_return), radius, cls,
               describe(r, half_width(r, noise)));
  };
  if (result.truth) {
    const Noise noise = noise_of(result.truth->all);
    for (const Measured& each : result.truth->all) { dot(each, noise, 2.2, "dot truth"); }
  }
  for (const Measured& each : result.measured) {
    dot(each, result.noise, 4, usable(options, each.result) ? "dot search" : "ring stray");
  }
  return svg.str();
}

namespace {

/// A training's curve and how it is drawn.
struct Curve {
  const WorkflowResult* run;
  const char* cls;
};

/// The best order's last, on top.
std::vector<Curve> curves_of(const SearchOptions& options, const SearchResult& result) {
  std::vector<Curve> curves;
  const auto add = [&](const Measured& order, const char* cls) {
    for (const WorkflowResult& run : order.runs) { curves.push_back({&run, cls}); }
  };
  for (const int place : result.ranking) {
    const Measured& order = result.measured[place];
    if (result.best != place) { add(order, usable(options, order.result) ? "thin" : "thin stray"); }
  }
  if (result.baselines) { add(result.baselines->unconditioned, "curve base"); }
  if (result.best) { add(result.measured[*result.best], "curve search"); }
  return curves;
}

}  // namespace

std::string curve_chart(const SearchOptions& options, const SearchResult& result, CurveKind kind) {
  const bool reward = kind == CurveKind::reward;
  const auto value_of = [&](const CurvePoint& p) { return reward ? p.reward : 100 * p.compliance; };
  const std::vector<Curve> curves = curves_of(options, result);
  Extent steps;
  Extent values;
  for (const Curve& curve : curves) {
    for (const CurvePoint& point : curve.run->curve) {
      steps.add(static_cast<double>(point.steps));
      values.add(value_of(point));
    }
  }
  values = reward ? values.padded() : Extent{0, 100};
  Svg svg(420, 320, reward ? "Learning curves" : "Compliance while learning");
  const Axis x(0, steps.low > steps.high ? 1 : steps.high, 52, 408, 4);
  const Axis y(values.low, values.high, 270, 40);
  svg.frame(x, y, "training steps", reward ? "episode return" : "compliance, %");
  if (!reward) {
    const double threshold = y(100 * options.job.compliance_threshold);
    svg.line(x.from(), threshold, x.to(), threshold, "threshold");
  }
  for (const Curve& curve : curves) {
    Points points;
    for (const CurvePoint& point : curve.run->curve) {
      const double value = value_of(point);
      if (std::isfinite(value)) {
        points.emplace_back(x(static_cast<double>(point.steps)), y(value));
      }
    }
    svg.path(points, curve.cls, describe(*curve.run, kNormal95 * curve.run->std_error));
  }
  return svg.str();
}

}  // namespace penstock::cage2::detail
