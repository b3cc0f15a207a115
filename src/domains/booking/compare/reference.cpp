#include "penstock/domains/booking/compare/reference.h"

#include <fmt/format.h>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/json_value.h"
#include "penstock/core/base/program.h"
#include "penstock/core/store/journal.h"
#include "penstock/core/store/temporary_folder.h"

namespace penstock::booking {
namespace {

constexpr int kNoPyvrp = 3;  // the script's exit code

// Reads {"seconds", "seed", "days"} from the file it is given, prints a list of costs.
constexpr const char* kScript = R"(
import json, sys
try:
    from pyvrp import Model
    from pyvrp.stop import MaxRuntime
except ImportError:
    sys.exit(3)

def cost(day, seconds, seed):
    model = Model()
    places = [model.add_location(x, y) for x, y in day["points"]]
    early, late = day["nodes"][0][:2]
    depot = model.add_depot(places[0], tw_early=early, tw_late=late)
    model.add_vehicle_type(day["vehicles"], day["capacity"], depot, depot, tw_early=early, tw_late=late)
    if day["ride"]:
        for k in range(1, len(places), 2):
            (e1, l1, s1, load), (e2, l2, s2, _) = day["nodes"][k : k + 2]
            model.add_shipment(places[k], places[k + 1], e1, l1, s1, e2, l2, s2, amount=load)
    else:
        for place, (e, l, s, load) in list(zip(places, day["nodes"]))[1:]:
            model.add_client(place, delivery=load, service_duration=s, tw_early=e, tw_late=l)
    n = len(places)
    for i in range(n):
        for j in range(n):
            if i != j:
                model.add_edge(places[i], places[j], day["distance"][i * n + j], day["duration"][i * n + j])
    result = model.solve(MaxRuntime(seconds), seed=seed, collect_stats=False, display=False)
    return int(result.cost()) if result.is_feasible() else None

with open(sys.argv[1]) as file:
    task = json.load(file)
print(json.dumps([cost(day, task["seconds"], task["seed"]) if len(day["nodes"]) > 1 else 0 for day in task["days"]]))
)";

/// The depot and the nodes of the served requests.
std::vector<std::int32_t> kept_nodes(const PromisedDay& day) {
  std::vector<std::int32_t> nodes = {0};
  for (const std::int32_t request : day.served) {
    const std::int32_t first = day.instance.first_node(request);
    for (std::int32_t k = 0; k < day.instance.stops_per_request(); ++k) {
      nodes.push_back(first + k);
    }
  }
  return nodes;
}

OrderedJson day_json(const PromisedDay& day) {
  const Instance& instance = day.instance;
  const std::vector<std::int32_t> kept = kept_nodes(day);
  OrderedJson nodes = OrderedJson::array();
  OrderedJson points = OrderedJson::array();
  OrderedJson distance = OrderedJson::array();
  OrderedJson duration = OrderedJson::array();
  for (const std::int32_t from : kept) {
    const std::size_t n = from;
    const Node& node = instance.nodes[n];
    nodes.push_back({node.window.earliest, node.window.latest, node.service, node.load});
    const Point at = instance.points.empty() ? Point{} : instance.points[n];
    points.push_back({at.x, at.y});
    for (const std::int32_t to : kept) {
      distance.push_back(instance.distance_of(from, to));
      duration.push_back(instance.duration_of(from, to));
    }
  }
  return {{"ride", instance.mode == Mode::ride},
          {"vehicles", instance.vehicles},
          {"capacity", instance.capacity},
          {"nodes", nodes},
          {"points", points},
          {"distance", distance},
          {"duration", duration}};
}

}  // namespace

std::vector<std::optional<Cost>> solve_by_pyvrp(std::span<const PromisedDay> days,
                                                const ReferenceOptions& options) {
  OrderedJson task = {
      {"seconds", options.seconds}, {"seed", options.seed}, {"days", OrderedJson::array()}};
  for (const PromisedDay& day : days) { task["days"].push_back(day_json(day)); }
  const TemporaryFolder folder;
  replace_text(folder / "solve.py", kScript);
  replace_text(folder / "task.json", to_text(task));
  std::string text;
  const int code = run_program({options.python, folder / "solve.py", folder / "task.json"},
                               "--python", [&](const std::string& line) { text += line + "\n"; });
  if (code == kNoPyvrp) {
    throw UsageError(
        fmt::format("--reference pyvrp: {} has no PyVRP that knows pickups and drop-offs; install "
                    "0.14 or newer "
                    "with `pip install pyvrp`, or name another interpreter with --python",
                    options.python));
  }
  const OrderedJson costs = try_parse_ordered_json(text);
  if (code != 0 || !costs.is_array() || costs.size() != days.size()) {
    throw UsageError(fmt::format(
        "--reference pyvrp: {} ended with code {}; it must be Python 3 with pyvrp 0.14 or newer "
        "(`pip install pyvrp`), see --python",
        options.python, code));
  }
  std::vector<std::optional<Cost>> found;
  for (const OrderedJson& cost : costs) {
    found.push_back(cost.is_null() ? std::nullopt : std::optional<Cost>(cost.get<Cost>()));
  }
  return found;
}

}  // namespace penstock::booking
