// Any bytes are either refused with a DataError or a problem whose plan passes the checker, and
// which is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "mutate.h"
#include "penstock/core/base/errors.h"
#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/convert.h"
#include "penstock/domains/booking/dispatch/files.h"
#include "penstock/domains/booking/dispatch/solve.h"

namespace {

using namespace penstock::booking::dispatch;

void plan(const Problem& problem) {
  constexpr std::size_t kFew = 30;  // of each, so that a run takes milliseconds
  if (problem.tasks.size() > kFew || problem.vehicles.size() > kFew) { return; }
  const Schedule plan = solve(problem, {.seconds = 0, .iterations = 5});
  if (!check(problem, told(plan)).empty()) { std::abort(); }
  const ToldSolution read = read_solution(solution_json(plan), "solution");
  if (!check(problem, read).empty()) { std::abort(); }
  static_cast<void>(geojson(plan));
}

}  // namespace

FUZZ_TEXT_MUTATOR

/// The first byte chooses the reader.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) { return 0; }
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 'c') {
      Problem fleet = read_problem(R"({"vehicles": [{"id": 1, "start": [4, 52]}]})", "fleet");
      add_bookings(read_bookings(text, "fuzz"), {}, fleet);
      plan(fleet);
    } else if (data[0] == 's') {
      static_cast<void>(read_solution(text, "fuzz"));
    } else {
      const Problem problem = read_problem(text, "fuzz");
      const std::string written = problem_json(problem);
      if (problem_json(read_problem(written, "written")) != written) { std::abort(); }
      plan(problem);
    }
  } catch (const penstock::DataError&) {
    return 0;  // any other exception is a crash
  }
  return 0;
}
