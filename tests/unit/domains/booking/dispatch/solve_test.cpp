#include "penstock/domains/booking/dispatch/solve.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>

#include "draw.h"
#include "penstock/domains/booking/dispatch/checker.h"
#include "penstock/domains/booking/dispatch/files.h"

using namespace penstock;
using namespace penstock::booking::dispatch;

namespace {

using Rank = std::tuple<std::int64_t, std::size_t, Money>;

Rank rank_of(const Schedule& plan) {
  std::int64_t priority = 0;
  for (const std::int32_t task : plan.unserved()) {
    priority += plan.problem().tasks[static_cast<std::size_t>(task)].priority;
  }
  return {priority, plan.unserved().size(), plan.cost()};
}

/// The best of all plans, by trying them all: every stop in turn goes to every place, or the task
/// is left out.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem)
      : problem_(problem), plan_(problem), routes_(problem.vehicles.size()) {}

  Rank best() {
    place(0);
    return *best_;
  }

 private:
  void place(std::int32_t task) {
    if (static_cast<std::size_t>(task) == problem_.tasks.size()) {
      if (!plan_.load(routes_)) {
        const Rank rank = rank_of(plan_);
        if (!best_ || rank < *best_) { best_ = rank; }
      }
      return;
    }
    place(task + 1);
    const bool shipment = problem_.tasks[static_cast<std::size_t>(task)].is_shipment;
    for (std::vector<std::int32_t>& route : routes_) {
      const std::vector<std::int32_t> before = route;
      for (std::size_t i = 0; i <= before.size(); ++i) {
        for (std::size_t j = shipment ? i : before.size(); j <= before.size(); ++j) {
          route = before;
          if (shipment) {
            route.insert(route.begin() + static_cast<std::ptrdiff_t>(j), 2 * task + 1);
          }
          route.insert(route.begin() + static_cast<std::ptrdiff_t>(i), 2 * task);
          place(task + 1);
        }
      }
      route = before;
    }
  }

  const Problem& problem_;
  Schedule plan_;
  std::vector<std::vector<std::int32_t>> routes_;
  std::optional<Rank> best_;
};

}  // namespace

TEST_CASE("tiny problems are solved to the optimum that trying everything finds") {
  for (std::uint64_t seed = 200; seed < 225; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Problem problem = draw.problem(2, 4);
    const Rank best = BruteForce(problem).best();
    const Schedule plan = solve(problem, {.seconds = 0, .iterations = 3000, .seed = seed});
    CHECK(rank_of(plan) == best);
  }
}

TEST_CASE("solutions of random problems pass the checker and are the same again") {
  for (std::uint64_t seed = 300; seed < 315; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    const Problem problem = draw.problem(5, 30);
    const Schedule plan = solve(problem, {.seconds = 0, .iterations = 400, .seed = seed});
    const auto wrong = check(problem, told(plan));
    CHECK_MESSAGE(wrong.empty(), (wrong.empty() ? "" : wrong[0]));
    const Schedule again = solve(problem, {.seconds = 0, .iterations = 400, .seed = seed});
    CHECK(solution_json(again) == solution_json(plan));
    CHECK(check(problem, read_solution(solution_json(plan), "solution.json")).empty());
  }
}

TEST_CASE(
    "a ride that takes too long however late it begins is not served, without a window to end the "
    "search") {
  const auto served = [](const std::string& max_ride) {
    const Problem problem = read_problem(
        R"({"vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "capacity": [1]}],
            "jobs": [{"id": 2, "location_index": 1}],
            "shipments": [{"id": 9, "amount": [1], "max_ride": )" +
            max_ride + R"(, "pickup": {"location_index": 1, "service": 60},
                           "delivery": {"location_index": 2}}],
            "matrices": {"car": {"durations": [[0, 300, 500], [310, 0, 2600], [480, 210, 0]]}}})",
        "fleet.json");
    const Schedule plan = solve(problem, {.seconds = 0, .iterations = 50});
    CHECK(check(problem, told(plan)).empty());
    return plan.unserved().empty();
  };
  CHECK(served("2600"));
  CHECK_FALSE(served("2599"));
}

TEST_CASE("one depot and one kind of vehicle: the faster search finds the optimum too") {
  for (std::uint64_t seed = 400; seed < 420; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    Problem problem = draw.problem(2, 5);
    const bool shipments = seed % 2 == 0;
    problem.num_amounts = 1;
    for (Vehicle& vehicle : problem.vehicles) {
      vehicle = Vehicle{.id = vehicle.id, .shift = {.earliest = 3600, .latest = 36000}};
      vehicle.start = vehicle.end = 0;
      vehicle.capacity[0] = 3;
    }
    problem.places[0] = draw.place();
    for (Task& task : problem.tasks) {
      task.skills.reset();
      task.is_shipment = shipments;
      task.priority = task.max_ride = 0;
      task.delivery = shipments ? Amount{} : Amount{1};
      task.pickup = shipments ? Amount{1} : Amount{};
      for (Stop& stop : task.stops) {
        stop.setup = 0;
        stop.windows.resize(std::min<std::size_t>(stop.windows.size(), 1));
        stop.place = static_cast<std::int32_t>(problem.places.size());
        problem.places.push_back(draw.place());
      }
    }
    const Schedule plan = solve(problem, {.seconds = 0, .iterations = 3000, .seed = seed});
    CHECK(check(problem, told(plan)).empty());
    if (!shipments) { CHECK(rank_of(plan) == BruteForce(problem).best()); }
  }
}
