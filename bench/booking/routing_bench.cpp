// The searches of module routing on generated days and on published instances: what they cost and
// how long they take. bench/booking/routing_bench.py sets the costs beside PyVRP's, OR-tools' and
// the best known.
//
//   routing_bench days   ORACLE ride|deliver COUNT        one JSON line per day, with its matrices
//   routing_bench speed  ORACLE ride|deliver SECONDS      steps per second of processor time
//   routing_bench anneal solomon|homberger|lilim|ortec SECONDS CHAINS FILE...   a line per file
//   routing_bench show   solomon|homberger|lilim|ortec FILE    the instance as others are given it
#include <fmt/core.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "penstock/core/base/errors.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/text_file.h"
#include "penstock/domains/booking/routing/anneal.h"
#include "penstock/domains/booking/routing/checker.h"
#include "penstock/domains/booking/routing/generators.h"
#include "penstock/domains/booking/routing/oracle.h"
#include "penstock/domains/booking/routing/parsers.h"

namespace penstock::booking {
namespace {

using Words = std::vector<std::string>;

std::unique_ptr<Generator> days_of(const std::string& mode) {
  if (mode == "ride") { return make_generator("city", {.mode = Mode::ride}); }
  if (mode == "deliver") { return make_generator("delivery", {.mode = Mode::deliver}); }
  throw UsageError(fmt::format("mode '{}': ride or deliver", mode));
}

/// The requests of a day booked one at a time.
struct Booking {
  Plan plan;
  std::vector<std::int32_t> served;
  Cost cost = 0;

  void run(RoutingOracle& oracle, const Instance& day, std::uint64_t seed) {
    for (auto& route : plan.routes) { route.clear(); }
    served.clear();
    for (std::int32_t r = 0; r < day.num_requests(); ++r) {
      RoutingProblem problem{.instance = &day,
                             .served = served,
                             .request = r,
                             .seed = episode_seed(seed, static_cast<std::uint32_t>(r), 0),
                             .plan = &plan};
      oracle.solve({&problem, 1});
      if (problem.fits) { served.push_back(r); }
      cost = problem.cost;
    }
  }
};

nlohmann::json to_json(const Instance& day) {
  nlohmann::json line = {{"mode", day.mode == Mode::ride ? "ride" : "deliver"},
                         {"vehicles", day.vehicles},
                         {"capacity", day.capacity},
                         {"distance", day.distance},
                         {"duration", day.duration}};
  for (const Node& node : day.nodes) {
    line["nodes"].push_back({node.window.earliest, node.window.latest, node.service, node.load});
  }
  return line;
}

void print_days(const Words& words) {
  const auto oracle = make_search_oracle(words.at(1));
  const auto days = days_of(words.at(2));
  for (std::uint64_t seed = 1; seed <= std::stoull(words.at(3)); ++seed) {
    Instance day;
    days->make(seed, day);
    Booking booking;
    booking.run(*oracle, day, seed);
    nlohmann::json line = to_json(day);
    line["seed"] = seed;
    line["cost"] = booking.cost;
    line["unserved"] = day.num_requests() - booking.served.size();
    line["violation"] = find_violation(day, booking.plan, booking.served).value_or("");
    fmt::print("{}\n", line.dump());
  }
}

void print_speed(const Words& words) {
  const auto oracle = make_search_oracle(words.at(1));
  const auto days = days_of(words.at(2));
  const double seconds = std::stod(words.at(3));
  Instance day;
  Booking booking;
  std::int64_t steps = 0;
  const std::clock_t begin = std::clock();
  double spent = 0;
  for (std::uint64_t seed = 1; spent < seconds; ++seed) {
    days->make(seed, day);
    booking.run(*oracle, day, seed);
    steps += day.num_requests();
    spent = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  const nlohmann::json line = {{"oracle", words.at(1)},
                               {"mode", words.at(2)},
                               {"steps_per_second", static_cast<double>(steps) / spent}};
  fmt::print("{}\n", line.dump());
}

struct Set {
  ParsedInstance (*parse)(std::string_view, const std::string&, Convention);
  Convention convention;
  bool vehicles_first;
};

Set set_of(const std::string& name) {
  if (name == "solomon") { return {parse_solomon, Convention::dimacs, false}; }
  if (name == "homberger") { return {parse_solomon, Convention::sintef, true}; }
  if (name == "lilim") { return {parse_lilim, Convention::sintef, true}; }
  if (name == "ortec") { return {parse_vrplib, Convention::ortec, false}; }
  throw UsageError(fmt::format("set '{}': solomon, homberger, lilim or ortec", name));
}

void print_annealed(const Words& words) {
  const Set set = set_of(words.at(1));
  const AnnealingConfig config{.seconds = std::stod(words.at(2)),
                               .chains = std::stoi(words.at(3)),
                               .vehicles_first = set.vehicles_first};
  for (std::size_t i = 4; i < words.size(); ++i) {
    const std::string name = std::filesystem::path(words[i]).stem().string();
    const Instance instance = set.parse(read_text(words[i]), name, set.convention).instance;
    const std::clock_t begin = std::clock();
    const Annealed found = anneal(instance, config);
    std::vector<std::int32_t> all(static_cast<std::size_t>(instance.num_requests()));
    std::iota(all.begin(), all.end(), 0);
    const nlohmann::json line = {
        {"name", name},
        {"cost", static_cast<double>(found.cost) / units_of(set.convention)},
        {"vehicles", found.vehicles},
        {"iterations", found.iterations},
        {"cpu", static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC},
        {"violation", find_violation(instance, found.plan, all).value_or("")}};
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
}

void print_instance(const Words& words) {
  const Set set = set_of(words.at(1));
  nlohmann::json line =
      to_json(set.parse(read_text(words.at(2)), words.at(2), set.convention).instance);
  line["units"] = units_of(set.convention);
  line["vehicles_first"] = set.vehicles_first;
  fmt::print("{}\n", line.dump());
}

int run(const Words& words) {
  if (words.size() >= 4 && words[0] == "days") {
    print_days(words);
  } else if (words.size() >= 4 && words[0] == "speed") {
    print_speed(words);
  } else if (words.size() >= 5 && words[0] == "anneal") {
    print_annealed(words);
  } else if (words.size() == 3 && words[0] == "show") {
    print_instance(words);
  } else {
    throw UsageError("routing_bench: days, speed, anneal or show; the head of its source says how");
  }
  return 0;
}

}  // namespace
}  // namespace penstock::booking

int main(int argc, char** argv) {
  try {
    return penstock::booking::run({argv + 1, argv + argc});
  } catch (const penstock::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.exit());
  }
}
