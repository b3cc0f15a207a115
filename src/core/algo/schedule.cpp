#include "core/algo/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"

namespace penstock::detail {
namespace {

constexpr double kWarmUpFrom = 0.1;

std::optional<double> number_of(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

using Points = std::vector<std::pair<double, double>>;

std::optional<Points> points_of(std::string_view text) {
  Points points;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    const std::size_t colon = one.find(':');
    if (colon == std::string_view::npos) { return std::nullopt; }
    const std::optional<double> place = number_of(one.substr(0, colon));
    const std::optional<double> factor = number_of(one.substr(colon + 1));
    const bool rises = points.empty() || (place && *place > points.back().first);
    if (!place || !factor || *place > 1 || !rises) { return std::nullopt; }
    points.emplace_back(*place, *factor);
    begin = end + 1;
  }
  return points;
}

}  // namespace

Schedule::Schedule(const std::string& text, const std::string& key, double warm_up)
    : cosine_(text == "cosine"), warm_up_(warm_up) {
  if (text == "linear") {
    points_ = {{0, 1}, {1, 0}};
  } else if (text == "constant" || cosine_) {
    points_ = {{0, 1}};
  } else if (auto points = points_of(text)) {
    points_ = std::move(*points);
  } else {
    throw ConfigError(
        fmt::format("{} = {}: expected constant, linear, cosine, or points of the run with their "
                    "factors, places rising from 0 to 1, as in 0:0.1,0.05:1,1:0",
                    key, text));
  }
}

double Schedule::operator()(double progress) const {
  progress = std::clamp(progress, 0.0, 1.0);
  double factor = cosine_ ? 0.5 * (1 + std::cos(std::numbers::pi * progress)) : on_lines(progress);
  if (progress < warm_up_) { factor *= kWarmUpFrom + (1 - kWarmUpFrom) * progress / warm_up_; }
  return factor;
}

double Schedule::on_lines(double progress) const {
  const auto after =
      std::ranges::find_if(points_, [&](const auto& point) { return point.first > progress; });
  if (after == points_.begin()) { return points_.front().second; }
  if (after == points_.end()) { return points_.back().second; }
  const auto& [from, low] = *(after - 1);
  const auto& [to, high] = *after;
  return low + (high - low) * ((progress - from) / (to - from));
}

}  // namespace penstock::detail
