#include "penstock/envs/python/restart_budget.h"

#include <doctest/doctest.h>

using penstock::RestartBudget;

TEST_CASE("a budget of restarts is spent by failures that follow each other closely") {
  RestartBudget budget(2, 60);
  budget.add(0, "a");
  budget.add(10, "b");
  CHECK_FALSE(budget.spent());
  budget.add(20, "c");
  CHECK(budget.spent());
  CHECK(budget.text() ==
        "envs failed 3 times, more than env.max_restarts = 2 within env.restart_window_s = 60; the "
        "first: a");
}

TEST_CASE("a budget of restarts recovers with time") {
  RestartBudget budget(2, 60);
  for (int hour = 0; hour < 100; ++hour) {
    budget.add(3600.0 * hour, "once an hour");
    CHECK(budget.count() == 1);
  }
  budget.add(3600 * 99 + 59.9, "soon after");
  CHECK(budget.count() == 2);
  budget.add(3600 * 99 + 60, "as the first one leaves the window");
  CHECK(budget.count() == 2);
  CHECK_FALSE(budget.spent());
  budget.add(3600 * 99 + 61, "too many");
  CHECK(budget.spent());
  CHECK(budget.text().ends_with("the first: soon after"));
}

TEST_CASE("a budget of restarts without a window counts to the end") {
  RestartBudget budget(1, 0);
  budget.add(0, "a");
  budget.add(1e9, "b");
  CHECK(budget.spent());
  CHECK(budget.text() == "envs failed 2 times, more than env.max_restarts = 1; the first: a");
}
