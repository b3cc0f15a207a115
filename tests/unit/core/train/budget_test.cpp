#include "core/train/budget.h"

#include <doctest/doctest.h>

#include <cmath>

using penstock::RunConfig;
using penstock::detail::Budget;
using penstock::detail::Spent;

TEST_CASE("a run ends when the first of its budgets is used up") {
  RunConfig config;
  config.total_timesteps = 1000;
  config.total_episodes = 10;
  config.total_seconds = 60;
  const Budget budget(config);
  CHECK(!budget.used_up({.timesteps = 999, .episodes = 9, .seconds = 59}));
  CHECK(budget.used_up({.timesteps = 1000}));
  CHECK(budget.used_up({.episodes = 10}));
  CHECK(budget.used_up({.seconds = 60}));
}

TEST_CASE("schedules go by steps and episodes, what is shown by the clock too") {
  RunConfig config;
  config.total_timesteps = 1000;
  config.total_episodes = 10;
  config.total_seconds = 60;
  const Budget budget(config);
  const Spent spent{.timesteps = 100, .episodes = 4, .seconds = 45};
  CHECK(budget.share(spent) == 0.4);
  CHECK(budget.shown(spent) == 0.75);
  CHECK(budget.share({.timesteps = 5000}) == 1);
  config.total_episodes = 0;
  config.total_seconds = 0;
  CHECK(budget.shown(spent) == 0.1);
}

TEST_CASE("what is left is told at the pace of this sitting, and never beyond the clock") {
  RunConfig config;
  config.total_timesteps = 1000;
  const Budget budget(config);
  const Spent start{.timesteps = 500, .seconds = 100};
  CHECK(std::isnan(budget.seconds_left(start, start)));
  CHECK(budget.seconds_left(start, {.timesteps = 600, .seconds = 110}) == doctest::Approx(40));
  config.total_seconds = 130;
  CHECK(budget.seconds_left(start, {.timesteps = 600, .seconds = 110}) == doctest::Approx(20));
  CHECK(budget.seconds_left(start, start) == doctest::Approx(30));
  CHECK(budget.seconds_left(start, {.timesteps = 500, .seconds = 140}) == 0);
}
