#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "penstock/domains/booking/dispatch/problem.h"

namespace penstock::booking::dispatch {

/// One step of a solution as it was told, by whomever.
struct Step {
  enum class Kind : std::uint8_t { start, job, pickup, delivery, pause, end };
  Kind kind = Kind::job;
  Name id;           // of the stop or break
  Time arrival = 0;  // at the place; of a break, when the vehicle stops for it
  Time start = 0;    // of work, after waiting
};
/// What a vehicle does, in order.
struct ToldRoute {
  Name vehicle;
  std::vector<Step> steps;
};
/// Routes of some of the vehicles, and the tasks that are left out: by the ids of their stops.
struct ToldSolution {
  std::vector<ToldRoute> routes;
  std::vector<Name> unserved;
  Money cost = 0;
};

/// Everything that is wrong with a solution, in words that speak of ids and times; empty when it
/// keeps all rules. Shares no code with the search: only the problem's data and its ways.
std::vector<std::string> check(const Problem& problem, const ToldSolution& solution);

/// What the routes cost, added up from the problem.
Money cost_of(const Problem& problem, const ToldSolution& solution);

}  // namespace penstock::booking::dispatch
