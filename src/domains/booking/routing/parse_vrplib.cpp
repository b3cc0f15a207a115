#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "domains/booking/routing/benchmark.h"
#include "penstock/core/base/text.h"

namespace penstock::booking {
namespace {

/// What a VRPLIB file says, section by section.
struct VrplibFile {
  std::string name;
  std::size_t dimension = 0;
  std::int32_t vehicles = 0;  // 0: not told
  std::int32_t capacity = -1;
  double service = 0;
  bool is_explicit = false;
  std::vector<FileNode> nodes;        // [dimension] from the first section on
  std::vector<std::int32_t> weights;  // [dimension, dimension]
  bool has_coordinates = false;
  bool has_windows = false;
};

/// "KEY : value", the key without the colon.
struct Header {
  std::string_view key;
  std::string_view value;
};
Header split(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) { return {trimmed(line), {}}; }
  return {trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1))};
}

std::int32_t whole(const Header& header, std::int32_t low, std::int32_t high, const Scanner& scan) {
  double value = 0;
  if (!read_number(header.value, value) || value < low || value > high ||
      value != static_cast<std::int32_t>(value)) {
    scan.fail(fmt::format("{} is not a whole number from {} to {}", header.key, low, high));
  }
  return static_cast<std::int32_t>(value);
}

void read_header(const Header& header, std::int32_t scale, const Scanner& scan, VrplibFile& file) {
  const auto only = [&](std::string_view allowed) {
    if (header.value == allowed) { return; }
    scan.fail(fmt::format("{}: only {} is read", header.key, allowed));
  };
  if (header.key == "NAME") {
    file.name = header.value;
  } else if (header.key == "DIMENSION") {
    if (file.dimension > 0) { scan.fail("DIMENSION is given twice"); }
    file.dimension = static_cast<std::size_t>(whole(header, 2, kMostNodes, scan));
  } else if (header.key == "VEHICLES") {
    file.vehicles = whole(header, 1, 1000000, scan);
  } else if (header.key == "CAPACITY") {
    file.capacity = whole(header, 0, 1000000000, scan);
  } else if (header.key == "SERVICE_TIME") {
    file.service = whole(header, 0, 1000000000, scan);
    to_units(file.service, scale, scan, "the service time");
  } else if (header.key == "EDGE_WEIGHT_TYPE") {
    file.is_explicit = header.value == "EXPLICIT";
    if (!file.is_explicit && header.value != "EUC_2D") {
      scan.fail("EDGE_WEIGHT_TYPE: only EUC_2D and EXPLICIT are read");
    }
  } else if (header.key == "EDGE_WEIGHT_FORMAT") {
    only("FULL_MATRIX");
  } else if (header.key != "TYPE" && header.key != "COMMENT") {
    scan.fail(
        "neither a key nor a section that is read: NAME, TYPE, COMMENT, DIMENSION, VEHICLES, "
        "CAPACITY, SERVICE_TIME, EDGE_WEIGHT_TYPE, EDGE_WEIGHT_FORMAT, and the sections "
        "NODE_COORD, "
        "DEMAND, TIME_WINDOW, SERVICE_TIME, EDGE_WEIGHT, DEPOT");
  }
}

/// One line per node, which begins with its number. What is wrong with a node is told with the line
/// that made it so.
void read_lines(Scanner& scan, std::int32_t scale, VrplibFile& file,
                const std::function<void(FileNode&)>& read_rest) {
  for (std::size_t i = 0; i < file.dimension; ++i) {
    if (!scan.next_line()) { scan.fail(fmt::format("the section ends before node {}", i + 1)); }
    const std::int32_t told = scan.integer("the node's number", 1, kMostNodes);
    if (static_cast<std::size_t>(told) != i + 1) {
      scan.fail(fmt::format("node {} where {} should be", told, i + 1));
    }
    read_rest(file.nodes[i]);
    if (scan.line_has_more()) { scan.fail("more in the line than the section has columns"); }
    node_from(file.nodes[i], scale, scan);
  }
}

void read_weights(Scanner& scan, VrplibFile& file) {
  constexpr std::int32_t kMost = 500'000'000;
  const std::size_t count = file.dimension * file.dimension;
  if (scan.bytes_left() < count) {  // before the memory is asked for
    scan.fail(fmt::format("the file is too short for {} weights", count));
  }
  file.weights.clear();
  file.weights.reserve(count);
  while (file.weights.size() < count) {
    if (!scan.line_has_more() && !scan.next_line()) {
      scan.fail(fmt::format("{} weights of {}", file.weights.size(), count));
    }
    file.weights.push_back(scan.integer("the weight", 0, kMost));
  }
  if (scan.line_has_more()) { scan.fail(fmt::format("more than {} weights", count)); }
}

/// Node 1, closed by -1.
void read_depot(Scanner& scan) {
  if (!scan.next_line() || scan.integer("the depot", -1, kMostNodes) != 1 || !scan.next_line() ||
      scan.integer("the end of the depots", -1, kMostNodes) != -1) {
    scan.fail("one depot, which is node 1, and -1 after it");
  }
}

void read_section(std::string_view section, std::int32_t scale, Scanner& scan, VrplibFile& file) {
  if (file.dimension == 0) { scan.fail(fmt::format("{} before DIMENSION", section)); }
  scan.end_line();
  file.nodes.resize(file.dimension);
  if (section == "NODE_COORD_SECTION") {
    file.has_coordinates = true;
    read_lines(scan, scale, file, [&](FileNode& node) {
      node.at.x = scan.number("x");
      node.at.y = scan.number("y");
    });
  } else if (section == "DEMAND_SECTION") {
    read_lines(scan, scale, file,
               [&](FileNode& node) { node.load = scan.integer("the demand", 0, 1000000000); });
  } else if (section == "TIME_WINDOW_SECTION") {
    file.has_windows = true;
    read_lines(scan, scale, file, [&](FileNode& node) {
      node.earliest = scan.number("the earliest time");
      node.latest = scan.number("the latest time");
    });
  } else if (section == "SERVICE_TIME_SECTION") {
    read_lines(scan, scale, file,
               [&](FileNode& node) { node.service = scan.number("the service time"); });
  } else if (section == "EDGE_WEIGHT_SECTION") {
    read_weights(scan, file);
  } else if (section == "DEPOT_SECTION") {
    read_depot(scan);
  } else {
    scan.fail("a section that is not read");
  }
}

VrplibFile read_file(std::int32_t scale, Scanner& scan) {
  VrplibFile file;
  while (scan.next_line()) {
    const Header header = split(scan.rest_of_line());
    if (header.key == "EOF") { break; }
    if (header.key.ends_with("_SECTION")) {
      read_section(header.key, scale, scan, file);
    } else {
      read_header(header, scale, scan, file);
    }
  }
  if (file.nodes.empty()) {
    scan.fail("no sections: DIMENSION and NODE_COORD_SECTION are missing");
  }
  if (file.capacity < 0) { scan.fail("CAPACITY is missing"); }
  if (!file.has_windows) { scan.fail("TIME_WINDOW_SECTION is missing"); }
  return file;
}

void check_convention(const VrplibFile& file, Convention convention, const Scanner& scan) {
  if (file.is_explicit != (convention == Convention::ortec)) {
    scan.fail(file.is_explicit
                  ? "a matrix of weights is read in ORTEC's convention only"
                  : "EUC_2D has no cost in ORTEC's convention: choose dimacs or sintef");
  }
  if (file.is_explicit && file.weights.empty()) { scan.fail("EDGE_WEIGHT_SECTION is missing"); }
  if (!file.is_explicit && !file.has_coordinates) { scan.fail("NODE_COORD_SECTION is missing"); }
}

}  // namespace

ParsedInstance parse_vrplib(std::string_view text, const std::string& name, Convention convention) {
  Scanner scan(text, name);
  VrplibFile file = read_file(units_of(convention), scan);
  check_convention(file, convention, scan);
  ParsedInstance parsed;
  Instance& instance = parsed.instance;
  instance.name = file.name;
  instance.mode = Mode::deliver;
  const auto customers = static_cast<std::int32_t>(file.dimension) - 1;
  instance.vehicles = file.is_explicit || file.vehicles == 0 ? customers : file.vehicles;
  instance.capacity = file.capacity;
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    FileNode& node = file.nodes[i];
    if (file.service > 0 && i > 0) { node.service = file.service; }
    instance.nodes.push_back(node_from(node, units_of(convention), scan));
    if (file.has_coordinates) { instance.points.push_back(node.at); }
    parsed.node_of.push_back(static_cast<std::int32_t>(i));
  }
  if (file.is_explicit) {
    instance.duration = file.weights;
    instance.distance = std::move(file.weights);
  } else {
    fill_euclidean(convention, instance, scan);
  }
  return parsed;
}

}  // namespace penstock::booking
