#pragma once
#include <string>
#include <string_view>

#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/problem.h"
#include "penstock/domains/booking/dispatch/schedule.h"

namespace penstock::booking::dispatch {

/// Reads a superset of VROOM's input, which docs/booking/fleets.md describes. `name` is what
/// errors begin with. Throws DataError that names the field, the remedy and the nearest spelling.
Problem read_problem(std::string_view text, const std::string& name);

/// One job or shipment of the same form, for a problem that is there already: its skills, profiles
/// and kinds of amounts are those of the problem. Throws DataError likewise. A skill that nobody
/// of the fleet has becomes one of the problem's names.
Request read_request(std::string_view text, const std::string& name, Problem& problem);

/// The problem as JSON that read_problem reads again; times as seconds, as VROOM has them.
std::string problem_json(const Problem& problem);

/// A plan as a solution of VROOM's form, its numbers whole: `code`, `summary`, `unassigned`,
/// `routes` of `steps`.
std::string solution_json(const Schedule& plan);
/// A solution of VROOM's form, whoever wrote it. Throws DataError.
ToldSolution read_solution(std::string_view text, const std::string& name);
/// The same of a plan, without the text.
ToldSolution told(const Schedule& plan);

/// Routes as lines and stops as points, for maps. Only places with coordinates are there; metres
/// stay metres.
std::string geojson(const Schedule& plan);

}  // namespace penstock::booking::dispatch
