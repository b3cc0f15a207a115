// Any bytes are either refused with a DataError or an instance, table, list or solution that is
// whole. The first byte chooses the parser, and the convention.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace {

using namespace penstock::booking;

void require(bool holds) {
  if (!holds) { std::abort(); }
}

void check(const ParsedInstance& parsed) {
  const Instance& instance = parsed.instance;
  const std::size_t nodes = instance.num_nodes();
  require(nodes >= 2 && nodes <= kMostNodes);
  require(instance.distance.size() == nodes * nodes && instance.duration.size() == nodes * nodes);
  require(instance.points.empty() || instance.points.size() == nodes);
  require(instance.vehicles >= 1 && instance.num_requests() >= 1);
  for (const Node& node : instance.nodes) {
    require(node.window.earliest <= node.window.latest && node.service >= 0);
  }
  for (const std::int32_t node : parsed.node_of) {
    require(node >= 0 && node < static_cast<std::int32_t>(nodes));
  }
  plan_of(Solution{{{1, 2}}, {}}, parsed, "fuzz");
}

void parse(std::uint8_t choice, std::string_view text) {
  const auto convention = static_cast<Convention>(choice / 8 % 3);
  switch (choice % 8) {
    case 0:
      return check(parse_solomon(text, "fuzz", convention));
    case 1:
      return check(parse_lilim(text, "fuzz", convention));
    case 2:
      return check(parse_cordeau(text, "fuzz", convention));
    case 3:
      return check(parse_vrplib(text, "fuzz", convention));
    case 4: {
      const OsrmTable table = parse_osrm_table(text, "fuzz");
      return require(table.durations.size() == table.places * table.places);
    }
    case 5:
      return require(!parse_requests_csv(text, "fuzz").rows.empty());
    default:
      return require(!parse_solution(text, "fuzz").routes.empty());
  }
}

}  // namespace

FUZZ_TEXT_MUTATOR

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) { return 0; }
  try {
    parse(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const penstock::DataError&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
