#include "penstock/domains/booking/dispatch/command.h"

#include <fmt/format.h>

#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "domains/booking/dispatch/plan_table.h"
#include "penstock/core/base/errors.h"
#include "penstock/core/base/text.h"
#include "penstock/core/base/text_file.h"
#include "penstock/core/store/journal.h"
#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/convert.h"
#include "penstock/domains/booking/dispatch/files.h"
#include "penstock/domains/booking/dispatch/solve.h"

namespace penstock::booking::dispatch {
namespace {

/// Where a problem comes from.
struct Source {
  std::string file;
  std::string fleet;
  std::string date;
  std::string convention = "dimacs";
};

struct PlanArgs {
  Source source;
  SolveConfig solve{.seconds = 0};
  bool json = false;
  std::string out;
  std::string geojson;
};

struct CheckArgs {
  Source source;
  std::string solution;
};

struct ConvertArgs {
  Source source;
  std::string to = "vroom";
  std::string out;
};

std::string read_file(const std::string& file) {
  constexpr std::size_t kMost = 256'000'000;
  return file == "-" ? read_text(std::cin, "stdin", kMost) : read_text(file, kMost);
}

std::string name_of_file(const std::string& file) { return file == "-" ? "stdin" : file; }

Problem read_source(const Source& source) {
  const std::string text = read_file(source.file);
  const std::string name = name_of_file(source.file);
  if (source.fleet.empty()) {
    const bool sintef = source.convention == "sintef";
    return read_any(text, name, sintef ? Convention::sintef : Convention::dimacs);
  }
  Problem problem = read_problem(read_file(source.fleet), source.fleet);
  add_bookings(read_bookings(text, name),
               source.date.empty() ? std::nullopt : std::optional(source.date), problem);
  return problem;
}

void add_source(Options& verb, Source& source) {
  verb.add(
          "file", source.file,
          "the problem: JSON as VROOM's, Solomon, Li & Lim, Cordeau, VRPLIB, or with --fleet a CSV "
          "of bookings; - is stdin")
      .required();
  verb.add("--fleet", source.fleet, "the vehicles, as JSON, for a CSV of bookings");
  verb.add("--date", source.date, "the day of the bookings to plan, as 2026-11-18");
  verb.add("--convention", source.convention,
           "how benchmark files count: dimacs in tenths, sintef in ten-thousandths")
      .one_of({"dimacs", "sintef"})
      .show_default();
}

void write_file(const std::string& file, const std::string& text) {
  if (!file.empty()) { replace_text(file, text); }
}

Exit run_plan(const PlanArgs& args) {
  SolveConfig config = args.solve;
  if (config.iterations == 0 && config.seconds <= 0) { config.seconds = 1; }
  const Schedule plan = solve(read_source(args.source), config);
  write_file(args.out, solution_json(plan));
  write_file(args.geojson, geojson(plan));
  if (args.json) {
    fmt::print("{{\"cost\": {}, \"unserved\": {}, \"vehicles\": {}}}\n", plan.cost() / kUnit,
               plan.unserved().size(), plan.vehicles_used());
  } else {
    fmt::print("{}", plan_table(plan));
  }
  return Exit::ok;
}

Exit run_check(const CheckArgs& args) {
  const Problem problem = read_source(args.source);
  const ToldSolution solution =
      read_solution(read_file(args.solution), name_of_file(args.solution));
  const std::vector<std::string> wrong = check(problem, solution);
  for (const std::string& one : wrong) { fmt::print("{}\n", printable(one)); }
  if (!wrong.empty()) { return Exit::bad_data; }
  fmt::print("keeps all rules, cost {}\n", cost_of(problem, solution) / kUnit);
  return Exit::ok;
}

Exit run_convert(const ConvertArgs& args) {
  Problem problem = read_source(args.source);
  const std::string text =
      args.to == "vroom" ? problem_json(problem) : geojson(Schedule(std::move(problem)));
  if (args.out.empty()) {
    fmt::print("{}", text);
  } else {
    replace_text(args.out, text);
  }
  return Exit::ok;
}

std::function<Exit()> add_plan_options(Options& verb) {
  auto args = std::make_shared<PlanArgs>();
  add_source(verb, args->source);
  verb.add("--seconds", args->solve.seconds, "how long to search; 1 without --iterations")
      .positive();
  verb.add("--iterations", args->solve.iterations,
           "rounds of the search; alone they make the plan the same on every machine")
      .positive();
  verb.add("--seed", args->solve.seed, "of the search").show_default();
  verb.add_flag("--json", args->json, "print cost, unserved and vehicles as JSON");
  verb.add("--out", args->out, "write the solution here, in VROOM's form");
  verb.add("--geojson", args->geojson, "write routes and stops for a map here");
  return [args] { return run_plan(*args); };
}

std::function<Exit()> add_check_options(Options& verb) {
  auto args = std::make_shared<CheckArgs>();
  add_source(verb, args->source);
  verb.add("solution", args->solution, "a solution in VROOM's form, whoever made it; - is stdin")
      .required();
  return [args] { return run_check(*args); };
}

std::function<Exit()> add_convert_options(Options& verb) {
  auto args = std::make_shared<ConvertArgs>();
  add_source(verb, args->source);
  verb.add("--to", args->to, "vroom: JSON that plan and VROOM read; geojson: places for a map")
      .one_of({"vroom", "geojson"})
      .show_default();
  verb.add("--out", args->out, "write here instead of stdout");
  return [args] { return run_convert(*args); };
}

constexpr std::array<LightVerb, 3> kVerbs = {
    LightVerb{.name = "plan",
              .doc = "plan the routes of a fleet: jobs, shipments, shifts, breaks, skills, costs",
              .add_options = add_plan_options},
    LightVerb{.name = "check",
              .doc = "hold a solution against every rule of its problem",
              .add_options = add_check_options},
    LightVerb{.name = "convert",
              .doc = "a problem of another format as JSON, or its places as GeoJSON",
              .add_options = add_convert_options}};

}  // namespace

std::span<const LightVerb> light_verbs() { return kVerbs; }

}  // namespace penstock::booking::dispatch
