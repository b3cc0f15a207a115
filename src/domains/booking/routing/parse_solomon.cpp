#include <fmt/format.h>

#include <algorithm>

#include "domains/booking/routing/benchmark.h"

namespace penstock::booking {
namespace {

constexpr std::string_view kFormat =
    "Solomon's format is a name, VEHICLE with NUMBER and CAPACITY, and CUSTOMER with seven numbers "
    "in each line";

/// To the line after the heading, which has one line of column names.
void skip_heading(Scanner& scan, std::string_view heading) {
  while (scan.next_line()) {
    if (!scan.rest_of_line().starts_with(heading)) { continue; }
    if (scan.next_line() && scan.next_line()) { return; }
  }
  scan.fail(fmt::format("the file ends without {}; {}", heading, kFormat));
}

FileNode read_row(Scanner& scan, std::size_t number) {
  const std::int32_t told = scan.integer("the customer's number", 0, kMostNodes);
  if (static_cast<std::size_t>(told) != number) {
    scan.fail(fmt::format("customer {} where {} should be: number them 0, 1, 2", told, number));
  }
  FileNode node;
  node.at.x = scan.number("x");
  node.at.y = scan.number("y");
  node.load = scan.number("the demand");
  node.earliest = scan.number("the ready time");
  node.latest = scan.number("the due date");
  node.service = scan.number("the service time");
  if (scan.line_has_more()) { scan.fail(fmt::format("more than seven numbers; {}", kFormat)); }
  if (node.load < 0) { scan.fail("the demand is negative"); }
  return node;
}

}  // namespace

ParsedInstance parse_solomon(std::string_view text, const std::string& name,
                             Convention convention) {
  Scanner scan(text, name);
  ParsedInstance parsed;
  Instance& instance = parsed.instance;
  instance.mode = Mode::deliver;
  if (!scan.next_line()) { scan.fail(fmt::format("the file is empty; {}", kFormat)); }
  instance.name = scan.rest_of_line();
  require_euclidean(convention, scan);
  skip_heading(scan, "VEHICLE");
  instance.vehicles = scan.integer("the number of vehicles", 1, 1000000);
  instance.capacity = scan.integer("the capacity", 0, 1000000000);
  skip_heading(scan, "CUSTOMER");
  do {
    const std::size_t number = instance.nodes.size();
    if (number == kMostNodes) { scan.fail(fmt::format("at most {} nodes are read", kMostNodes)); }
    const FileNode row = read_row(scan, number);
    instance.nodes.push_back(node_from(row, units_of(convention), scan));
    instance.points.push_back(row.at);
    parsed.node_of.push_back(number);
  } while (scan.next_line());
  if (instance.nodes.size() < 2) { scan.fail("a depot without customers: add their lines"); }
  fill_euclidean(convention, instance, scan);
  return parsed;
}

}  // namespace penstock::booking
