#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "domains/booking/routing/benchmark.h"

namespace penstock::booking {
namespace {

/// A file's places and which of them belong together: (pickup, drop-off) by the file's numbers.
struct PairFile {
  std::vector<FileNode> places;  // [0]: the depot
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

/// The instance in our order, pickups and drop-offs side by side.
void arrange(const PairFile& file, Convention convention, const Scanner& at,
             ParsedInstance& parsed) {
  Instance& instance = parsed.instance;
  instance.mode = Mode::ride;
  parsed.node_of.assign(file.places.size(), -1);
  const auto add = [&](std::size_t number) {
    parsed.node_of[number] = static_cast<std::int32_t>(instance.nodes.size());
    const FileNode& place = file.places[number];
    instance.nodes.push_back(node_from(place, units_of(convention), at.at_line(place.line)));
    instance.points.push_back(place.at);
  };
  add(0);
  for (const auto& [pickup, drop] : file.pairs) {
    add(pickup);
    add(drop);
  }
  fill_euclidean(convention, instance, at);
}

std::int32_t read_number_of(Scanner& scan, std::size_t expected) {
  const std::int32_t told = scan.integer("the place's number", 0, kMostNodes);
  if (static_cast<std::size_t>(told) != expected) {
    scan.fail(fmt::format("place {} where {} should be: number them 0, 1, 2", told, expected));
  }
  return told;
}

struct Partners {
  std::size_t pickup;  // 0: this is a pickup itself
  std::size_t drop;
};

/// Each pickup names its drop-off, which names it.
void check_partners(const PairFile& file, const std::vector<Partners>& partners,
                    const Scanner& scan) {
  if (file.pairs.empty()) { scan.fail("no pickups: the last column names their drop-offs"); }
  if (file.pairs.size() * 2 + 1 != file.places.size()) {
    scan.fail("pickups and drop-offs are not equally many: each belongs to one other");
  }
  for (const auto& [pickup, drop] : file.pairs) {
    const Scanner there = scan.at_line(file.places[pickup].line);
    if (drop >= file.places.size() || partners[drop].pickup != pickup || pickup == drop) {
      there.fail(fmt::format("pickup {} names drop-off {}, which does not name it", pickup, drop));
    }
    if (file.places[pickup].load + file.places[drop].load != 0) {
      there.fail(
          fmt::format("pickup {} takes on what drop-off {} does not put down", pickup, drop));
    }
  }
}

FileNode read_lilim_row(Scanner& scan, Partners& partners) {
  FileNode node;
  node.line = scan.line_number();
  node.at.x = scan.number("x");
  node.at.y = scan.number("y");
  node.load = scan.number("the demand");
  node.earliest = scan.number("the earliest time");
  node.latest = scan.number("the latest time");
  node.service = scan.number("the service time");
  partners.pickup = static_cast<std::size_t>(scan.integer("the pickup", 0, kMostNodes));
  partners.drop = static_cast<std::size_t>(scan.integer("the drop-off", 0, kMostNodes));
  return node;
}

FileNode read_cordeau_row(Scanner& scan) {
  FileNode node;
  node.line = scan.line_number();
  node.at.x = scan.number("x");
  node.at.y = scan.number("y");
  node.service = scan.number("the service time");
  node.load = scan.number("the load");
  node.earliest = scan.number("the earliest time");
  node.latest = scan.number("the latest time");
  return node;
}

}  // namespace

ParsedInstance parse_lilim(std::string_view text, const std::string& name, Convention convention) {
  Scanner scan(text, name);
  ParsedInstance parsed;
  parsed.instance.name = name;
  if (!scan.next_line()) {
    scan.fail("the file is empty; its first line is vehicles, capacity and speed");
  }
  require_euclidean(convention, scan);
  parsed.instance.vehicles = scan.integer("the number of vehicles", 1, 1000000);
  parsed.instance.capacity = scan.integer("the capacity", 0, 1000000000);
  PairFile file;
  std::vector<Partners> partners;
  while (scan.next_line()) {
    const std::size_t number = file.places.size();
    if (number == kMostNodes) { scan.fail(fmt::format("at most {} nodes are read", kMostNodes)); }
    read_number_of(scan, number);
    Partners own{};
    file.places.push_back(read_lilim_row(scan, own));
    partners.push_back(own);
    if (number > 0 && own.pickup == 0) { file.pairs.emplace_back(number, own.drop); }
  }
  check_partners(file, partners, scan);
  arrange(file, convention, scan, parsed);
  return parsed;
}

ParsedInstance parse_cordeau(std::string_view text, const std::string& name,
                             Convention convention) {
  Scanner scan(text, name);
  ParsedInstance parsed;
  parsed.instance.name = name;
  if (!scan.next_line()) {
    scan.fail(
        "the file is empty; its first line is vehicles, places, longest route, capacity and "
        "longest ride");
  }
  require_euclidean(convention, scan);
  parsed.instance.vehicles = scan.integer("the number of vehicles", 1, 1000000);
  const auto told = static_cast<std::size_t>(scan.integer("the number of places", 2, kMostNodes));
  scan.number("the longest route");
  parsed.instance.capacity = scan.integer("the capacity", 0, 1000000000);
  parsed.instance.max_ride =
      to_units(scan.number("the longest ride"), units_of(convention), scan, "the longest ride");
  if (parsed.instance.max_ride < 0) { scan.fail("the longest ride is negative"); }
  PairFile file;
  while (scan.next_line()) {
    read_number_of(scan, file.places.size());
    file.places.push_back(read_cordeau_row(scan));
    if (file.places.size() > told + 2) { break; }
  }
  // Some files end with the depot again.
  if (file.places.size() == told + 2) { file.places.pop_back(); }
  if (told % 2 != 0 || file.places.size() != told + 1) {
    scan.fail(fmt::format("{} places told, {} found: an even number, and a line for each", told,
                          file.places.empty() ? 0 : file.places.size() - 1));
  }
  for (std::size_t i = 1; i <= told / 2; ++i) { file.pairs.emplace_back(i, i + told / 2); }
  arrange(file, convention, scan, parsed);
  return parsed;
}

}  // namespace penstock::booking
