#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/compare/pictures.h"
#include "penstock/tools/page/svg.h"

namespace penstock::booking::detail {
namespace {

using page::Svg;

constexpr Seconds kHour = 3600;
constexpr double kGanttWidth = 860;
constexpr double kGanttLeft = 74;
constexpr double kGanttRight = kGanttWidth - 12;
constexpr double kStrip = 14;    // what a vehicle does
constexpr double kPitch = 12.5;  // of the rows of windows
constexpr double kBar = 9;

/// From seconds to pixels.
struct Clock {
  Window span;
  double operator()(Seconds time) const {
    return kGanttLeft +
           (kGanttRight - kGanttLeft) * (time - span.earliest) / (span.latest - span.earliest);
  }
};

/// A promised window in a row where it touches no other.
struct Bar {
  Visit visit;
  std::size_t row = 0;
};

/// What was wished for a node.
const Window& wish(const Instance& day, std::int32_t node, const std::vector<OfferMade>& offers) {
  const std::size_t request = day.request_of(node);
  return offers[request].wished[begins_request(day, node) ? 0 : 1];
}

/// The first row that is free at the left end of each window and wish, its number included.
std::vector<Bar> packed(const Instance& day, const Timetable& table, const Clock& x,
                        const std::vector<OfferMade>& offers, std::size_t& num_rows) {
  constexpr double kNumber = 19;  // room for a request's number
  std::vector<Bar> bars;
  for (const Visit& visit : table.visits) { bars.push_back({visit}); }
  const auto window = [&](const Bar& bar) {
    const Window& promised = day.nodes[bar.visit.node].window;
    const Window& wished = wish(day, bar.visit.node, offers);
    return Window{std::min(promised.earliest, wished.earliest),
                  std::max(promised.latest, wished.latest)};
  };
  std::ranges::stable_sort(
      bars, [&](const Bar& a, const Bar& b) { return window(a).earliest < window(b).earliest; });
  std::vector<double> free_from;
  for (Bar& bar : bars) {
    const double left = x(window(bar).earliest) - kNumber;
    while (bar.row < free_from.size() && free_from[bar.row] > left) { ++bar.row; }
    if (bar.row == free_from.size()) { free_from.push_back(0); }
    free_from[bar.row] = x(window(bar).latest) + 2;
  }
  num_rows = free_from.size();
  return bars;
}

/// One vehicle's lane.
struct Lane {
  const Instance& day;
  const Timetable& table;
  std::vector<Bar> bars;
  std::size_t num_rows = 0;
  [[nodiscard]] double height() const { return kStrip + 8 + kPitch * num_rows + 10; }
};

void draw_strip(Svg& svg, const Lane& lane, const Clock& x, double y) {
  const Timetable& table = lane.table;
  const std::string cls = vehicle_class(table.vehicle);
  const auto drive = [&](Seconds from, Seconds to) {
    svg.rect(x(from), y + kStrip / 2 - 1.5, x(to) - x(from), 3, "fill " + cls);
  };
  Seconds time = table.leaves;
  for (const Visit& visit : table.visits) {
    drive(time, visit.arrival);
    if (visit.start > visit.arrival) {
      svg.rect(x(visit.arrival), y + 2, x(visit.start) - x(visit.arrival), kStrip - 4,
               "waiting " + cls, "rx=\"2\"",
               fmt::format("waits {} min", (visit.start - visit.arrival + 30) / 60));
    }
    time = visit.end;
  }
  drive(time, table.returns);
  for (const Visit& visit : table.visits) {
    constexpr double kLeast = 3;
    svg.rect(x(visit.start), y, std::max(kLeast, x(visit.end) - x(visit.start)), kStrip,
             fmt::format("{} {} {}", begins_request(lane.day, visit.node) ? "fill edge" : "hollow",
                         cls, request_class(lane.day.request_of(visit.node))),
             "rx=\"1\"",
             fmt::format("{}, {}", stop_text(lane.day, visit.node), clock_text(visit.start)));
  }
}

void draw_windows(Svg& svg, const Lane& lane, const Clock& x, double top,
                  const std::vector<OfferMade>& offers) {
  for (const Bar& bar : lane.bars) {
    const std::int32_t node = bar.visit.node;
    const std::int32_t request = lane.day.request_of(node);
    const bool first = begins_request(lane.day, node);
    const Window& promised = lane.day.nodes[node].window;
    const Window& wished = wish(lane.day, node, offers);
    const double y = top + kPitch * bar.row;
    const std::string cls = vehicle_class(lane.table.vehicle);
    svg.rect(x(promised.earliest), y, std::max(1.0, x(promised.latest) - x(promised.earliest)),
             kBar,
             fmt::format("{} {} {}", first ? "promise" : "promise drop", cls,
                         request_class(static_cast<std::size_t>(request))),
             "rx=\"2\"",
             fmt::format("{}: promised {}, wished {}, kept at {}", stop_text(lane.day, node),
                         window_text(promised), window_text(wished), clock_text(bar.visit.start)));
    if (promised != wished) {
      svg.line(x(wished.earliest), y + kBar, x(wished.latest), y + kBar, "wish");
    }
    svg.line(x(bar.visit.start), y - 1, x(bar.visit.start), y + kBar + 1, "kept");
    svg.text(x(std::min(promised.earliest, wished.earliest)) - 3, y + kBar - 0.8,
             fmt::format("{}", request + 1), "tiny end");
  }
}

void draw_hours(Svg& svg, const Clock& x, double bottom) {
  for (Seconds hour = x.span.earliest; hour <= x.span.latest; hour += kHour) {
    svg.line(x(hour), 40, x(hour), bottom, "grid");
    svg.text(x(hour), 34, fmt::format("{}", hour / kHour), "tick mid");
  }
}

}  // namespace

Window hours_out(std::span<const BookingLog* const> logs) {
  Window span{24 * kHour, 0};
  for (const BookingLog* log : logs) {
    for (const Timetable& table : timetables(log->instance, log->plan)) {
      span.earliest = std::min(span.earliest, table.leaves);
      span.latest = std::max(span.latest, table.returns);
      for (const Visit& visit : table.visits) {
        const Window& window = log->instance.nodes[static_cast<std::size_t>(visit.node)].window;
        const Window& wished = wish(log->instance, visit.node, log->shown_offers());
        span.earliest = std::min({span.earliest, window.earliest, wished.earliest});
        span.latest = std::max({span.latest, window.latest, wished.latest});
      }
    }
  }
  if (span.latest <= span.earliest) { return {0, 24 * kHour}; }
  return {std::max(0, span.earliest / kHour * kHour), (span.latest + kHour - 1) / kHour * kHour};
}

std::string gantt_chart(const BookingLog& log, Window span, const std::string& title) {
  const Clock x{span};
  const std::vector<OfferMade>& offers = log.shown_offers();
  const std::vector<Timetable> tables = timetables(log.instance, log.plan);
  std::vector<Lane> lanes;
  double height = 46;
  for (const Timetable& table : tables) {
    Lane& lane = lanes.emplace_back(Lane{.day = log.instance, .table = table});
    lane.bars = packed(log.instance, table, x, offers, lane.num_rows);
    height += lane.height();
  }
  Svg svg(kGanttWidth, height, title);
  svg.text(0, 14, title, "label strong");
  draw_hours(svg, x, height - 6);
  double y = 50;
  for (const Lane& lane : lanes) {
    svg.text(0, y + 11, fmt::format("vehicle {}", lane.table.vehicle + 1), "label");
    svg.text(0, y + 26, cost_text(lane.table.cost, log.instance.unit, 1), "tick");
    draw_strip(svg, lane, x, y);
    draw_windows(svg, lane, x, y + kStrip + 8, offers);
    y += lane.height();
    if (&lane != &lanes.back()) { svg.line(0, y - 7, kGanttWidth, y - 7, "grid"); }
  }
  return svg.str();
}

}  // namespace penstock::booking::detail
