#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/domains/booking/routing/instance.h"

namespace penstock::booking {

/// How an instance's cost is counted, and with it the unit of every number in it: distances,
/// durations, windows, services. The three are never mixed.
enum class Convention : std::uint8_t {
  dimacs,  // tenths, Euclidean distances truncated to them
  sintef,  // ten-thousandths of exact Euclidean distances, which are rounded to the nearest; as
           // durations they are truncated, so that no window met exactly is missed
  ortec,   // whole seconds from the file's own matrix, which is the cost too
};
/// Units in one unit of the file: 10, 10000, 1.
std::int32_t units_of(Convention convention);

/// An instance, and the node that each number of the file became: pickups and drop-offs stand side
/// by side here and anywhere there.
struct ParsedInstance {
  Instance instance;
  std::vector<std::int32_t> node_of;  // [numbers of the file]; 0 is the depot
};

/// All parsers take the text and the name that errors begin with, throw DataError "name:line: what
/// and the remedy", and allocate no more than in proportion to the text and the matrices of at most
/// kMostNodes nodes.
inline constexpr std::size_t kMostNodes = 5000;

/// Solomon and Gehring & Homberger, VRPTW.
ParsedInstance parse_solomon(std::string_view text, const std::string& name, Convention convention);
/// Li & Lim, PDPTW.
ParsedInstance parse_lilim(std::string_view text, const std::string& name, Convention convention);
/// Cordeau, and Cordeau & Laporte, DARP; minutes. An Instance has no longest route, so that limit
/// of the file is not kept.
ParsedInstance parse_cordeau(std::string_view text, const std::string& name, Convention convention);
/// VRPLIB: EUC_2D in the DIMACS or SINTEF convention, EXPLICIT FULL_MATRIX in ORTEC's. ORTEC's
/// instances have as many vehicles as customers: the number in their file is not a limit.
ParsedInstance parse_vrplib(std::string_view text, const std::string& name, Convention convention);

/// The answer of OSRM's table service, from every place to every place.
struct OsrmTable {
  std::size_t places = 0;
  std::vector<Seconds> durations;  // [places, places]
  std::vector<Metres> distances;   // [places, places]; empty when it was not asked for
};
/// From its JSON; numbers are rounded to the nearest. A pair of places without a way is refused.
OsrmTable parse_osrm_table(std::string_view text, const std::string& name);

/// One line of a list of requests. Places are metres, or degrees where the list says so: x is then
/// the longitude, y the latitude.
struct RequestRow {
  Point from;
  std::optional<Point> to;
  Window window;  // of the pickup, or of the only stop
  std::int32_t load = 1;
};
/// The lines of a file, in their order.
struct RequestList {
  std::optional<Point> depot;
  std::vector<RequestRow> rows;
  bool degrees = false;
};
/// A first line that names the columns, in any order: x, y, earliest, latest, and if you like
/// to_x, to_y, load. Metres; seconds since midnight or HH:MM. A line "depot,x,y" may follow. With
/// lon, lat, to_lon, to_lat instead, places are degrees; see docs/booking/csv.md.
RequestList parse_requests_csv(std::string_view text, const std::string& name);

/// A solution as published: routes of the file's numbers, and the cost if the file has it.
struct Solution {
  std::vector<std::vector<std::int32_t>> routes;
  std::optional<double> cost;
};
/// CVRPLIB's .sol ("Route #1: 5 3", "Cost 827.3") and SINTEF's text ("Route 1 : 5 3").
Solution parse_solution(std::string_view text, const std::string& name);
/// The same in the nodes of an instance. Throws DataError on a number that it does not have.
Plan plan_of(const Solution& solution, const ParsedInstance& parsed, const std::string& name);

}  // namespace penstock::booking
