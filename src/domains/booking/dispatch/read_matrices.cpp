#include <fmt/format.h>

#include <cmath>

#include "domains/booking/dispatch/index.h"
#include "domains/booking/dispatch/read_fields.h"

namespace penstock::booking::dispatch {
namespace {

constexpr std::size_t kMostRows = 5000;

/// A number of a matrix, rounded to the nearest: OSRM's have decimals.
std::int32_t cell_of(const JsonField& row, std::size_t column, double unit, std::int32_t most) {
  const Json& cell = row.json()[column];
  if (cell.is_null()) {
    row.at(column).fail("is null: there is no way between these places; leave one of them out");
  }
  const double value = cell.is_number() ? cell.get<double>() * unit : -1;
  if (!(value >= 0 && value <= most)) {
    row.at(column).fail(fmt::format("should be a number from 0 to {}", most));
  }
  return static_cast<std::int32_t>(std::lround(value));
}

void require_square(const JsonField& rows, std::size_t i, std::size_t size) {
  rows.at(i).require_array(kMostRows);
  if (rows.at(i).size() != size) {
    rows.at(i).fail(fmt::format("{} entries in a matrix of {} rows", rows.at(i).size(), size));
  }
}

/// Valhalla's answer: objects of seconds and kilometres (or miles).
void read_valhalla(const JsonField& field, const JsonField& answer, Profile& profile) {
  constexpr double kMile = 1609.344;
  const bool miles = answer.has("units") && answer.at("units").text() == "miles";
  field.require_array(kMostRows);
  const std::size_t size = field.size();
  profile.rows = ordinal(size);
  for (std::size_t i = 0; i < size; ++i) {
    require_square(field, i, size);
    const JsonField row = field.at(i);
    for (std::size_t k = 0; k < size; ++k) {
      const JsonField cell = row.at(k);
      if (!cell.json().is_object()) { cell.fail("should be an object of time and distance"); }
      if (!cell.has("time") || !cell.at("time").json().is_number()) {
        cell.fail("has no time: there is no way between these places; leave one of them out");
      }
      profile.seconds.push_back(
          static_cast<std::int32_t>(std::lround(cell.at("time").number(0, kMostSeconds))));
      const double metres = cell.at("distance").number(0, 40'000) * (miles ? kMile : 1000);
      profile.metres.push_back(
          static_cast<std::int32_t>(std::lround(std::fmin(metres, kMostMetres))));
    }
  }
}

void read_profile(const JsonField& field, Profile& profile) {
  if (field.json().is_object() && field.has("sources_to_targets")) {
    return read_valhalla(field.at("sources_to_targets"), field, profile);
  }
  // The other keys are those of OSRM's answer.
  field.require_object({"durations", "distances", "costs", "code", "sources", "destinations",
                        "fallback_speed_cells"});
  read_matrix(field.at("durations"), kMostSeconds, profile.rows, profile.seconds);
  std::int32_t size = profile.rows;
  const auto same_size = [&](const char* key) {
    if (size != profile.rows) {
      field.at(key).fail(fmt::format("{} rows, durations have {}", size, profile.rows));
    }
  };
  if (field.has("distances")) {
    read_matrix(field.at("distances"), kMostMetres, size, profile.metres);
    same_size("distances");
  }
  if (field.has("costs")) {
    read_matrix(field.at("costs"), kMostSeconds, size, profile.costs);
    same_size("costs");
  }
}

}  // namespace

void read_matrix(const JsonField& rows, std::int32_t most, std::int32_t& size,
                 std::vector<std::int32_t>& cells) {
  rows.require_array(kMostRows);
  size = ordinal(rows.size());
  if (size == 0) { rows.fail("is empty"); }
  cells.clear();
  for (std::size_t i = 0; i < index(size); ++i) {
    require_square(rows, i, index(size));
    const JsonField row = rows.at(i);
    for (std::size_t k = 0; k < index(size); ++k) { cells.push_back(cell_of(row, k, 1, most)); }
  }
}

void read_matrices(const JsonField& field, Problem& problem) {
  if (!field.json().is_object()) { field.fail("should be an object of profiles"); }
  for (const auto& [name, unused] : field.json().items()) {
    const std::int32_t number = profile_named(name, problem);
    read_profile(field.at(name.c_str()), problem.profiles[index(number)]);
  }
}

}  // namespace penstock::booking::dispatch
