#pragma once
#include <string>

#include "domains/booking/dispatch/parts.h"
#include "penstock/core/base/json_value.h"

namespace penstock::booking::dispatch {

/// As the file had it: a number stays one.
inline OrderedJson name_json(const Name& name) {
  return name.is_number ? parse_ordered_json(name.text) : OrderedJson(name.text);
}

/// [lon, lat], or metres as {"x", "y"}.
inline OrderedJson point_json(const Problem& problem, const Place& place) {
  if (problem.degrees) { return {place.point[0], place.point[1]}; }
  return {{"x", place.point[0]}, {"y", place.point[1]}};
}

/// A place under its two keys, as far as it has them; metres only where no row of a matrix says as
/// much, as VROOM knows degrees and rows.
inline void put_place(const Problem& problem, std::int32_t number, const char* point_key,
                      const char* row_key, OrderedJson& object) {
  if (number < 0) { return; }
  const Place& place = problem.places[index(number)];
  if (place.has_point && (problem.degrees || place.row < 0)) {
    object[point_key] = point_json(problem, place);
  }
  if (place.row >= 0) { object[row_key] = place.row; }
}

}  // namespace penstock::booking::dispatch
