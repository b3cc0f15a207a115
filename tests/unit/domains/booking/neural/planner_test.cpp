#include "penstock/domains/booking/neural/planner.h"

#include <doctest/doctest.h>

#include "penstock/domains/booking/neural/neural_oracle.h"
#include "penstock/domains/booking/routing/checker.h"
#include "unit/domains/booking/neural/support.h"

using namespace penstock;
using namespace penstock::booking;
using namespace penstock::booking::test;

namespace {

struct Days {
  std::vector<Instance> days;
  std::vector<Task> tasks;

  explicit Days(std::size_t count) : days(mixed_days(count)), tasks(count) {
    for (std::size_t i = 0; i < count; ++i) { tasks[i].load(days[i], all_requests(days[i])); }
  }
  [[nodiscard]] std::vector<PlannedTask> questions() const {
    std::vector<PlannedTask> all(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) { all[i].task = &tasks[i]; }
    return all;
  }
};

bool same(const PlannedTask& a, const PlannedTask& b) {
  return a.plan == b.plan && a.cost == b.cost && a.complete == b.complete;
}

}  // namespace

TEST_CASE("a plan does not depend on what is planned with it") {
  const Days days(64);
  const auto model = pack(small_model());
  Planner planner(model);
  std::vector<PlannedTask> together = days.questions();
  plan_tasks(planner, together);
  std::vector<PlannedTask> alone = days.questions();
  for (PlannedTask& task : alone) { plan_tasks(planner, {&task, 1}); }
  for (std::size_t i = 0; i < alone.size(); ++i) { CHECK(same(alone[i], together[i])); }
}

TEST_CASE("log-probabilities are the same bits alone and in a block with longer days") {
  const Days days(8);
  Planner planner(pack(small_model()));
  Construction plan;
  for (std::size_t i = 0; i < days.tasks.size(); ++i) {
    const Task* task = &days.tasks[i];
    plan.begin(*task);
    planner.encode({&task, 1});
    const auto first = planner.log_probabilities(0, plan);
    const std::vector<float> alone(first.begin(), first.end());
    std::vector<const Task*> block = {&days.tasks[7], task, &days.tasks[5]};
    planner.encode(block);
    const auto second = planner.log_probabilities(1, plan);
    CHECK(alone == std::vector<float>(second.begin(), second.end()));
  }
}

TEST_CASE("neither threads nor the batch's size change a plan") {
  const Days days(40);
  const auto model = pack(small_model());
  std::vector<PlannedTask> expected = days.questions();
  Planner planner(model);
  plan_tasks(planner, expected);
  for (const std::size_t threads : {1, 3}) {
    ThreadPool pool({.num_threads = threads});
    pool.use(threads);
    for (const std::size_t max_batch : {1, 7, 128}) {
      std::vector<PlannedTask> planned = days.questions();
      plan_tasks(model, planned, pool, {.max_batch = max_batch});
      for (std::size_t i = 0; i < planned.size(); ++i) { CHECK(same(planned[i], expected[i])); }
    }
  }
}

TEST_CASE("complete plans pass the checker, and eight maps are no worse than one") {
  const Days days(40);
  Planner planner(pack(small_model()));
  std::vector<PlannedTask> one = days.questions();
  std::vector<PlannedTask> eight = days.questions();
  plan_tasks(planner, one);
  plan_tasks(planner, eight, {.flips = 8});
  std::size_t complete = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!one[i].complete) { continue; }
    ++complete;
    CHECK_FALSE(find_violation(days.days[i], one[i].plan, all_requests(days.days[i])));
    CHECK(one[i].cost == cost_of(days.days[i], one[i].plan));
    CHECK(eight[i].complete);
    CHECK(eight[i].cost <= one[i].cost);
  }
  CHECK(complete > 10);
}

TEST_CASE("a day without points is planned too") {
  Instance day = random_day(4, {.requests = 8, .vehicles = 8});
  day.points.clear();
  Task task;
  task.load(day, all_requests(day));
  PlannedTask planned{.task = &task};
  Planner planner(pack(small_model()));
  plan_tasks(planner, {&planned, 1});
  CHECK(planned.complete);
}
