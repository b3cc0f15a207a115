#include "penstock/tools/page/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::page {
namespace {

// 1, 2 or 5 times a power of ten.
double round_step(double span, int ticks) {
  const double raw = span / std::max(ticks, 1);
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) { return factor * power; }
  }
  return 10 * power;
}

std::string with_tooltip(const std::string& tag, const std::string& attributes,
                         const std::string& tooltip) {
  if (tooltip.empty()) { return fmt::format("<{} {}/>\n", tag, attributes); }
  return fmt::format("<{0} {1}><title>{2}</title></{0}>\n", tag, attributes, escaped(tooltip));
}

std::string joined(const Points& points, const char* begin) {
  std::string data;
  for (const auto& [x, y] : points) {
    data += fmt::format("{}{:.1f} {:.1f}", data.empty() ? begin : "L", x, y);
  }
  return data;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '&':
        safe += "&amp;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string with_minus(std::string text) {
  if (!text.starts_with('-')) { return text; }
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  return text.replace(0, 1, zero ? "" : "\u2212");
}

Axis::Axis(double low, double high, double from, double to, int about_ticks)
    : low_(low),
      high_(high > low
                ? high
                : std::max(low + 1, std::nextafter(low, std::numeric_limits<double>::infinity()))),
      from_(from),
      to_(to) {
  step_ = round_step(high_ - low_, about_ticks);
  for (double tick = std::ceil(low_ / step_ - 1e-9) * step_; tick <= high_ + 1e-9 * step_;
       tick += step_) {
    if (!ticks_.empty() && tick <= ticks_.back()) { break; }  // too fine for numbers of this size
    ticks_.push_back(std::abs(tick) < 1e-9 * step_ ? 0 : tick);
  }
}

double Axis::operator()(double value) const {
  return from_ + (value - low_) / (high_ - low_) * (to_ - from_);
}

std::string Axis::label(double tick) const {
  if (std::abs(tick) >= 10000) { return with_minus(fmt::format("{:g}k", tick / 1000)); }
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(step_) + 1e-9)));
  return with_minus(fmt::format("{:.{}f}", tick, digits));
}

Svg::Svg(double width, double height, const std::string& title)
    : body_(fmt::format("<svg viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" height=\"{1:g}\" "
                        "role=\"img\" aria-label=\"{2}\">\n",
                        width, height, escaped(title))) {}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& cls) {
  body_ +=
      fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n",
                  x1, y1, x2, y2, cls);
}

void Svg::rect(double x, double y, double width, double height, const std::string& cls,
               const std::string& more, const std::string& tooltip) {
  body_ += with_tooltip(
      "rect",
      fmt::format(R"(x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="{}" {})", x, y,
                  width, height, cls, more),
      tooltip);
}

void Svg::circle(double x, double y, double radius, const std::string& cls,
                 const std::string& tooltip) {
  body_ += with_tooltip(
      "circle", fmt::format(R"(cx="{:.1f}" cy="{:.1f}" r="{:.1f}" class="{}")", x, y, radius, cls),
      tooltip);
}

void Svg::text(double x, double y, const std::string& text, const std::string& cls) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, cls,
                       escaped(text));
}

void Svg::path(const Points& points, const std::string& cls, const std::string& tooltip) {
  if (points.empty()) { return; }
  body_ +=
      with_tooltip("path", fmt::format(R"(d="{}" class="{}")", joined(points, "M"), cls), tooltip);
}

void Svg::band(const Points& low, const Points& high, const std::string& cls) {
  if (low.empty()) { return; }
  const Points back(high.rbegin(), high.rend());
  body_ +=
      fmt::format("<path d=\"{}{}Z\" class=\"{}\"/>\n", joined(low, "M"), joined(back, "L"), cls);
}

void Svg::begin_group(double dx, double dy) {
  body_ += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", dx, dy);
}

void Svg::frame(const Axis& x, const Axis& y, const std::string& x_name,
                const std::string& y_name) {
  for (const double tick : y.ticks()) {
    line(x.from(), y(tick), x.to(), y(tick), "grid");
    text(x.from() - 8, y(tick) + 4, y.label(tick), "tick end");
  }
  for (const double tick : x.ticks()) {
    line(x(tick), y.from(), x(tick), y.from() + 4, "axis");
    text(x(tick), y.from() + 18, x.label(tick), "tick mid");
  }
  line(x.from(), y.from(), x.to(), y.from(), "axis");
  text((x.from() + x.to()) / 2, y.from() + 38, x_name, "name mid");
  text(x.from(), y.to() - 12, y_name, "name");
}

}  // namespace penstock::page
