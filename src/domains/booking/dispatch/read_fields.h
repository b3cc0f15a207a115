#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/routing/json_field.h"

namespace penstock::booking::dispatch {

/// "2026-11-18T08:00", with seconds, and Z or an offset if you like: seconds since 1970.
std::optional<Time> parse_date(std::string_view text);
/// "HH:MM" or "HH:MM:SS".
std::optional<Time> parse_clock(std::string_view text);

/// Reads what jobs, shipments and vehicles have in common into one problem.
class FieldReader {
 public:
  /// Of a problem that is there already, the units are known.
  enum class Known : std::uint8_t { nothing, all };
  explicit FieldReader(Problem& problem, Known known = Known::nothing)
      : problem_(problem), any_point_(known == Known::all), sized_(known == Known::all) {}

  Time time(const JsonField& field);
  TimeWindow window(const JsonField& field);
  TimeWindows windows(const JsonField& field);
  Skills skills(const JsonField& field);
  Amount amount(const JsonField& field);
  std::int32_t type(const JsonField& field);
  /// [lon, lat], {"lon", "lat"} or {"x", "y"}.
  Place point(const JsonField& field);
  /// A place by its point, its row of the matrices or both; none when neither key is there.
  std::optional<Place> place(const JsonField& object, const char* point_key, const char* row_key);
  std::vector<std::pair<std::int32_t, std::int32_t>> by_type(const JsonField& field);
  static Name name(const JsonField& field);
  static std::int32_t seconds(const JsonField& field);
  static std::string description(const JsonField& object);

 private:
  Problem& problem_;
  bool any_point_;
  bool sized_;  // the number of amounts is known
};

/// A job or a shipment; their places are in the request.
struct ReadTask {
  Task task;
  std::array<Place, 2> places;
};
ReadTask read_job(FieldReader& fields, const JsonField& field);
ReadTask read_shipment(FieldReader& fields, const JsonField& field);
Vehicle read_vehicle(FieldReader& fields, const JsonField& field, Problem& problem);
/// "matrices": those of every profile.
void read_matrices(const JsonField& field, Problem& problem);
void read_matrix(const JsonField& rows, std::int32_t most, std::int32_t& size,
                 std::vector<std::int32_t>& cells);
/// The profile of this name, made if it is new.
std::int32_t profile_named(const std::string& name, Problem& problem);

}  // namespace penstock::booking::dispatch
