#include "penstock/domains/booking/dispatch/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "domains/booking/dispatch/index.h"

namespace penstock::booking::dispatch {
namespace {

constexpr double kGlobe = 6'371'008.8;  // metres, the mean radius
constexpr Time kDay = 86'400;

double crow_flight(const Place& from, const Place& to, bool degrees) {
  const double dx = from.at[0] - to.at[0];
  const double dy = from.at[1] - to.at[1];
  const double dz = from.at[2] - to.at[2];
  const double chord = std::sqrt(dx * dx + dy * dy + dz * dz);
  return degrees ? 2 * kGlobe * std::asin(std::fmin(1, chord / 2)) : chord;
}

std::int32_t rounded(double value, std::int32_t most) {
  const std::int64_t whole = std::lround(std::fmin(value, most));
  return whole;
}

std::int32_t for_type(const std::vector<std::pair<std::int32_t, std::int32_t>>& by_type,
                      std::int32_t type, std::int32_t otherwise) {
  for (const auto& [one, seconds] : by_type) {
    if (one == type) { return seconds; }
  }
  return otherwise;
}

Leg from_matrix(const Profile& profile, std::int32_t from, std::int32_t to) {
  const std::size_t cell = index(from) * profile.rows + to;
  Leg leg{.seconds = profile.seconds[cell]};
  if (!profile.metres.empty()) { leg.metres = profile.metres[cell]; }
  if (!profile.costs.empty()) { leg.cost = profile.costs[cell]; }
  return leg;
}

}  // namespace

Time first_inside(const TimeWindows& windows, Time time) {
  if (windows.empty()) { return time; }
  for (const TimeWindow& window : windows) {
    if (time <= window.latest) { return std::max(time, window.earliest); }
  }
  return kForever;
}

Time last_inside(const TimeWindows& windows, Time time) {
  if (windows.empty()) { return time; }
  const auto found = std::find_if(windows.rbegin(), windows.rend(), [&](const TimeWindow& window) {
    return time >= window.earliest;
  });
  return found == windows.rend() ? -kForever : std::min(time, found->latest);
}

Place place_in_degrees(double lon, double lat) {
  constexpr double kRadians = std::numbers::pi / 180;
  const double width = std::cos(lat * kRadians);
  return {.point = {lon, lat},
          .at = {width * std::cos(lon * kRadians), width * std::sin(lon * kRadians),
                 std::sin(lat * kRadians)},
          .has_point = true};
}

Place place_in_metres(double x, double y) {
  return {.point = {x, y}, .at = {x, y, 0}, .has_point = true};
}

Leg Problem::leg(const Vehicle& vehicle, std::int32_t from, std::int32_t to) const {
  if (from < 0 || to < 0 || from == to) { return {}; }
  return leg(vehicle, places[index(from)], places[index(to)]);
}

Leg Problem::leg(const Vehicle& vehicle, const Place& a, const Place& b) const {
  const Profile& profile = profiles[index(vehicle.profile)];
  Leg leg;
  if (profile.rows > 0) {
    leg = from_matrix(profile, a.row, b.row);
  } else {
    const double metres = circuity * crow_flight(a, b, degrees);
    leg.metres = rounded(metres, kMostMetres);
    leg.seconds = rounded(metres / profile.metres_per_second, kMostSeconds);
  }
  if (vehicle.speed_factor != 1) {
    leg.seconds = rounded(leg.seconds / vehicle.speed_factor, kMostSeconds);
  }
  return leg;
}

std::int32_t Problem::any_work(const Vehicle& vehicle, const Stop& stop,
                               std::int32_t place_before) const {
  const std::int32_t service = stop.service_by_type.empty()
                                   ? stop.service
                                   : for_type(stop.service_by_type, vehicle.type, stop.service);
  if (same_place(place_before, stop.place)) { return service; }
  return service + (stop.setup_by_type.empty()
                        ? stop.setup
                        : for_type(stop.setup_by_type, vehicle.type, stop.setup));
}

bool Problem::same_place(std::int32_t a, std::int32_t b) const {
  if (a == b) { return true; }
  if (a < 0 || b < 0) { return false; }
  const Place& one = places[index(a)];
  const Place& other = places[index(b)];
  return one.row == other.row && one.point == other.point;
}

std::string Problem::told(Time time) const {
  if (dates) { return date_text(time); }
  return clock ? clock_text(time) : fmt::format("{}", time);
}

std::string clock_text(Time time) {
  return fmt::format("{}{:02}:{:02}:{:02}", time < 0 ? "-" : "", std::abs(time) / 3600,
                     std::abs(time) / 60 % 60, std::abs(time) % 60);
}

std::string date_text(Time time) {
  const Time day = (time - (time % kDay + kDay) % kDay) / kDay;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return fmt::format("{:04}-{:02}-{:02}T{}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock_text(time - day * kDay));
}

}  // namespace penstock::booking::dispatch
