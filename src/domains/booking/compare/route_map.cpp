#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/svg.h"

namespace penstock::booking::detail {
namespace {

using page::Svg;

constexpr double kSide = 420;
constexpr double kMargin = 14;
constexpr double kLegend = 22;  // a row of it

/// Where a day's places lie in the picture; north is up, and a kilometre is as long in both ways.
class Projection {
 public:
  explicit Projection(const std::vector<Point>& points) {
    double low_x = points[0].x;
    double low_y = points[0].y;
    double high_x = low_x;
    double high_y = low_y;
    for (const Point& point : points) {
      low_x = std::min(low_x, point.x);
      high_x = std::max(high_x, point.x);
      low_y = std::min(low_y, point.y);
      high_y = std::max(high_y, point.y);
    }
    const double half = std::max({high_x - low_x, high_y - low_y, 1.0}) / 2;
    centre_ = {.x = (low_x + high_x) / 2, .y = (low_y + high_y) / 2};
    scale_ = (kSide / 2 - kMargin) / half;
  }
  [[nodiscard]] std::pair<double, double> operator()(const Point& point) const {
    return {kSide / 2 + (point.x - centre_.x) * scale_, kSide / 2 - (point.y - centre_.y) * scale_};
  }
  /// Of a kilometre, in pixels.
  [[nodiscard]] double kilometre() const { return 1000 * scale_; }

 private:
  Point centre_;
  double scale_ = 1;
};

/// A small head in the middle of a leg, when there is room for it.
void draw_arrow(Svg& svg, std::pair<double, double> from, std::pair<double, double> to,
                const std::string& cls) {
  const double dx = to.first - from.first;
  const double dy = to.second - from.second;
  const double length = std::hypot(dx, dy);
  constexpr double kRoom = 28;
  if (length < kRoom) { return; }
  constexpr double kHead = 4;
  const double ux = dx / length;
  const double uy = dy / length;
  const double x = from.first + 0.55 * dx;
  const double y = from.second + 0.55 * dy;
  svg.path({{x + kHead * ux, y + kHead * uy},
            {x - kHead * ux - 0.7 * kHead * uy, y - kHead * uy + 0.7 * kHead * ux},
            {x - kHead * ux + 0.7 * kHead * uy, y - kHead * uy - 0.7 * kHead * ux}},
           "arrow " + cls);
}

void draw_route(Svg& svg, const Instance& day, const Projection& at, const Timetable& table) {
  const std::string cls = vehicle_class(table.vehicle);
  std::int32_t from = 0;
  const auto leg = [&](std::int32_t to, const char* kind) {
    const auto a = at(day.points[from]);
    const auto b = at(day.points[to]);
    svg.line(a.first, a.second, b.first, b.second, std::string(kind) + " " + cls);
    draw_arrow(svg, a, b, cls);
    from = to;
  };
  for (const Visit& visit : table.visits) { leg(visit.node, from == 0 ? "leg empty" : "leg"); }
  leg(0, "leg empty");
}

void draw_stops(Svg& svg, const Instance& day, const Projection& at, const Timetable& table) {
  const std::string cls = vehicle_class(table.vehicle);
  for (const Visit& visit : table.visits) {
    const auto [x, y] = at(day.points[visit.node]);
    const bool first = begins_request(day, visit.node);
    const std::size_t request = day.request_of(visit.node);
    constexpr double kRadius = 7;
    svg.circle(x, y, kRadius,
               fmt::format("{} {} {}", first ? "dot edge" : "ring", cls, request_class(request)),
               fmt::format("{}, {}, vehicle {}", stop_text(day, visit.node),
                           clock_text(visit.start), table.vehicle + 1));
    svg.text(x, y + 3, fmt::format("{}", request + 1), first ? "stop-number in" : "stop-number");
  }
}

void draw_scale(Svg& svg, const Projection& at) {
  const double right = kSide - kMargin;
  svg.line(right - at.kilometre(), kSide - 9, right, kSide - 9, "axis");
  svg.text(right - at.kilometre() - 6, kSide - 5, "1 km", "tick end");
}

}  // namespace

std::string route_map(const BookingLog& log, const std::string& title) {
  const Instance& day = log.instance;
  if (day.points.empty()) { return ""; }
  const std::vector<Timetable> tables = timetables(day, log.plan);
  constexpr std::size_t kPerRow = 4;
  const std::size_t rows = (tables.size() + kPerRow - 1) / kPerRow;
  constexpr double kTop = 24;
  Svg svg(kSide, kTop + kSide + 10 + kLegend * rows, title);
  svg.text(0, 14, title, "label strong");
  svg.begin_group(0, kTop);
  svg.rect(0.5, 0.5, kSide - 1, kSide - 1, "ground", "rx=\"8\"");
  const Projection at(day.points);
  for (const Timetable& table : tables) { draw_route(svg, day, at, table); }
  for (const Timetable& table : tables) { draw_stops(svg, day, at, table); }
  const auto [x, y] = at(day.points[0]);
  svg.rect(x - 6, y - 6, 12, 12, "depot", "rx=\"2\"", "depot");
  // Who tells no lengths tells no scale of its coordinates either.
  if (day.unit == CostUnit::metres) { draw_scale(svg, at); }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const double left = (i % kPerRow) * kSide / kPerRow;
    const std::size_t row = i / kPerRow;
    const double below = kSide + 22 + kLegend * row;
    svg.rect(left, below - 8, 14, 5, "fill " + vehicle_class(tables[i].vehicle), "rx=\"2\"");
    svg.text(left + 19, below,
             fmt::format("{}: {}", tables[i].vehicle + 1, cost_text(tables[i].cost, day.unit, 1)),
             "tick");
  }
  svg.end_group();
  return svg.str();
}

}  // namespace penstock::booking::detail
