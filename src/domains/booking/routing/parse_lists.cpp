#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "domains/booking/routing/text_scanner.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking {
namespace {

constexpr std::array<std::string_view, 7> kColumns = {"x",    "y",    "earliest", "latest",
                                                      "to_x", "to_y", "load"};
enum Column : std::size_t { kX, kY, kEarliest, kLatest, kToX, kToY, kLoadColumn, kNumColumns };
/// What the columns are called in a list of degrees.
constexpr std::array<std::string_view, kNumColumns> kDegreeColumns = {
    "lon", "lat", "earliest", "latest", "to_lon", "to_lat", "load"};
constexpr std::size_t kAbsent = std::string_view::npos;
/// The columns of a file.
struct Columns {
  bool degrees = false;
  std::array<std::size_t, kNumColumns> places{};  // in a line
  [[nodiscard]] const auto& names() const { return degrees ? kDegreeColumns : kColumns; }
};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) { return cells; }
    line.remove_prefix(comma + 1);
  }
}

Columns read_columns(const Scanner& scan) {
  Columns columns;
  auto& places = columns.places;
  places.fill(kAbsent);
  const auto cells = cells_of(scan.rest_of_line());
  columns.degrees = std::ranges::any_of(
      cells, [](std::string_view cell) { return cell == "lon" || cell == "lat"; });
  const auto& names = columns.names();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), cells[i]);
    if (found == names.end()) {
      scan.fail(fmt::format("column {} is not one of {}{}", i + 1, fmt::join(names, ", "),
                            columns.degrees ? "" : "; for degrees lon, lat, to_lon, to_lat"));
    }
    std::size_t& place = places[static_cast<std::size_t>(found - names.begin())];
    if (place != kAbsent) { scan.fail(fmt::format("two columns are called {}", *found)); }
    place = i;
  }
  for (const Column needed : {kX, kY, kEarliest, kLatest}) {
    if (places[needed] == kAbsent) {
      scan.fail(fmt::format("no column {}; the first line names the columns", names[needed]));
    }
  }
  if ((places[kToX] == kAbsent) != (places[kToY] == kAbsent)) {
    scan.fail(fmt::format("{} and {} come together", names[kToX], names[kToY]));
  }
  return columns;
}

double number_in(std::string_view cell, std::string_view column, const Scanner& scan) {
  double value = 0;
  if (!read_number(cell, value)) { scan.fail(fmt::format("{} is not a number", column)); }
  return value;
}

/// A place, whose numbers must be degrees where they are meant to be.
Point place_in(std::string_view x, std::string_view y, bool degrees, const Scanner& scan) {
  const Point point{.x = number_in(x, degrees ? "lon" : "x", scan),
                    .y = number_in(y, degrees ? "lat" : "y", scan)};
  if (degrees && (std::abs(point.x) > 180 || std::abs(point.y) > 90)) {
    scan.fail(fmt::format(
        "lon {} and lat {} are not degrees: -180 to 180 and -90 to 90 are; metres go into x and y",
        point.x, point.y));
  }
  return point;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Seconds, or HH:MM.
Seconds time_in(std::string_view cell, std::string_view column, const Scanner& scan) {
  constexpr double kMost = 7 * 86400;
  const std::size_t colon = cell.find(':');
  double seconds = 0;
  if (colon == std::string_view::npos) {
    seconds = number_in(cell, column, scan);
  } else {
    const std::string_view hours = cell.substr(0, colon);
    const double minutes = number_in(cell.substr(colon + 1), column, scan);
    const bool clock = all_digits(hours) && all_digits(cell.substr(colon + 1)) && minutes < 60;
    seconds = clock ? 3600 * number_in(hours, column, scan) + 60 * minutes : -1;
  }
  if (!(seconds >= 0 && seconds <= kMost) || seconds != std::floor(seconds)) {
    scan.fail(fmt::format("{} is neither whole seconds of a week nor HH:MM", column));
  }
  return static_cast<Seconds>(seconds);
}

RequestRow read_row(const std::vector<std::string_view>& cells, const Columns& columns,
                    const Scanner& scan) {
  const auto& places = columns.places;
  const auto cell = [&](Column column) {
    if (places[column] >= cells.size()) {
      scan.fail(fmt::format("the line ends before its column {}", columns.names()[column]));
    }
    return cells[places[column]];
  };
  RequestRow row;
  row.from = place_in(cell(kX), cell(kY), columns.degrees, scan);
  if (places[kToX] != kAbsent) { row.to = place_in(cell(kToX), cell(kToY), columns.degrees, scan); }
  row.window = {.earliest = time_in(cell(kEarliest), "earliest", scan),
                .latest = time_in(cell(kLatest), "latest", scan)};
  if (row.window.latest < row.window.earliest) { scan.fail("latest lies before earliest"); }
  if (places[kLoadColumn] != kAbsent) {
    const double load = number_in(cell(kLoadColumn), "load", scan);
    if (!(load >= 0 && load <= 1e6) || load != std::floor(load)) {
      scan.fail("load is not a whole number from 0 to 1000000");
    }
    row.load = static_cast<std::int32_t>(load);
  }
  return row;
}

/// The numbers after "Route ... :".
std::vector<std::int32_t> read_route(std::string_view stops, const Scanner& scan) {
  Scanner words(stops, "");
  std::vector<std::int32_t> route;
  if (!words.next_line()) { return route; }
  while (words.line_has_more()) {
    double value = 0;
    if (!read_number(words.word("a stop"), value) || !(value >= 1 && value <= kMostNodes) ||
        value != std::floor(value)) {
      scan.fail(fmt::format("stops are whole numbers from 1 to {}", kMostNodes));
    }
    route.push_back(static_cast<std::int32_t>(value));
  }
  return route;
}

}  // namespace

RequestList parse_requests_csv(std::string_view text, const std::string& name) {
  Scanner scan(text, name);
  if (!scan.next_line()) {
    scan.fail("the file is empty; its first line names the columns, as x,y,earliest,latest");
  }
  const Columns columns = read_columns(scan);
  RequestList list;
  list.degrees = columns.degrees;
  while (scan.next_line()) {
    const auto cells = cells_of(scan.rest_of_line());
    if (cells[0] != "depot") {
      list.rows.push_back(read_row(cells, columns, scan));
    } else if (cells.size() == 3 && list.rows.empty() && !list.depot) {
      // In the order of the columns: many write the latitude first.
      const bool x_first = !list.degrees || columns.places[kX] < columns.places[kY];
      list.depot = place_in(cells[x_first ? 1 : 2], cells[x_first ? 2 : 1], list.degrees, scan);
    } else {
      scan.fail(fmt::format("the depot is one line depot,{},{} before the requests",
                            columns.names()[kX], columns.names()[kY]));
    }
  }
  if (list.rows.empty()) { scan.fail("no requests: add a line for each"); }
  return list;
}

Solution parse_solution(std::string_view text, const std::string& name) {
  Scanner scan(text, name);
  Solution solution;
  while (scan.next_line()) {
    const std::string_view line = scan.rest_of_line();
    if (line.starts_with("Route")) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) { scan.fail("a route is written 'Route 1 : 5 3 7'"); }
      solution.routes.push_back(read_route(line.substr(colon + 1), scan));
    } else if (line.starts_with("Cost")) {
      double cost = 0;
      const std::string_view told = trimmed(line.substr(4));
      if (!read_number(told.starts_with(':') ? trimmed(told.substr(1)) : told, cost)) {
        scan.fail("the cost is written 'Cost 827.3'");
      }
      solution.cost = cost;
    }
  }
  if (solution.routes.empty()) { scan.fail("no routes: they are written 'Route 1 : 5 3 7'"); }
  return solution;
}

Plan plan_of(const Solution& solution, const ParsedInstance& parsed, const std::string& name) {
  Plan plan;
  for (const auto& route : solution.routes) {
    auto& nodes = plan.routes.emplace_back();
    for (const std::int32_t number : route) {
      const auto index = static_cast<std::size_t>(number);
      if (index >= parsed.node_of.size() || parsed.node_of[index] < 1) {
        throw DataError(fmt::format(
            "{}: stop {} is not in {}, which has {}: is it a solution of another instance?", name,
            number, parsed.instance.name, parsed.node_of.size() - 1));
      }
      nodes.push_back(parsed.node_of[index]);
    }
  }
  return plan;
}

}  // namespace penstock::booking
