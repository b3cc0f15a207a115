#include "core/train/console_report.h"

#include <doctest/doctest.h>

#include "penstock/app/catalog/catalog.h"

using namespace penstock;

TEST_CASE("a line per update tells episodes, the env's own numbers and the losses") {
  const std::vector<EpisodeEnd> ends = {{.total_reward = -250, .length = 30, .stats = {245, 0}},
                                        {.total_reward = -252, .length = 30, .stats = {247, 0.1}}};
  const std::vector<std::string> stats = {"cost_km", "failure_rate"};
  const Metrics metrics = {{"rollout/ep_rew_mean", -249.5},
                           {"train/entropy_loss", -2.7541},
                           {"train/policy_gradient_loss", -0.0125},
                           {"train/value_loss", 3.5},
                           {"env/epsilon", 0.2},
                           {"embedding/loss", 0.31},
                           {"embedding/type_0", 8},
                           {"time/fps", 1234}};
  const auto lines = penstock::detail::update_lines({.number = 3,
                                                     .last = 16,
                                                     .timesteps = 5760,
                                                     .total_episodes = 192,
                                                     .episodes = ends,
                                                     .stats = stats,
                                                     .metrics = metrics});
  REQUIRE(lines.size() == 2);
  CHECK(
      lines[0] ==
      "epoch 3/16  reward -251.00  length 30  cost km 246  failure rate 0.05  mean of 100 -249.50  "
      "entropy 2.7541  policy loss -0.0125  value loss 3.5  epsilon 0.2  episodes 192  steps 5760");
  CHECK(lines[1] == "  embedding: loss 0.31, type 0 8");
}

TEST_CASE("the header of bookings says who is served and how often the embedding learns") {
  Settings settings;
  for (const char* each : {"env.id=dvrptw", "env.mask=learnt", "rollout.steps=auto",
                           "total_timesteps=0", "total_episodes=1000"}) {
    settings.add_assignment(each, "--set");
  }
  const Catalog catalog = default_catalog();
  const auto lines = penstock::detail::header_lines(RunPlan(settings, catalog), "runs/x");
  REQUIRE(lines.size() == 6);
  CHECK(lines[3] == "customers 30, vehicles 5, planned by rr-50");
  CHECK(lines[4] ==
        "embedding learns every 19200 steps (sync), 50 epochs over the last 64000 answers at most");
}

TEST_CASE("the header says what runs and how the episodes fall into epochs") {
  Settings settings;
  for (const char* each : {"env.id=pendulum", "env.max_steps=30", "rollout.steps=auto",
                           "total_timesteps=0", "total_episodes=1000"}) {
    settings.add_assignment(each, "--set");
  }
  const Catalog catalog = default_catalog();
  const auto lines = penstock::detail::header_lines(RunPlan(settings, catalog), "runs/x");
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "env pendulum: max steps 30");
  CHECK(lines[1] == "64 envs x 30 steps = 1920 samples per update, 16 updates, device cpu");
  CHECK(lines[2].find("15 epochs of 64 and a remainder of 40") != std::string::npos);
  CHECK(lines[2].find("1024 episodes in all") != std::string::npos);
  CHECK(lines[3] == "run directory runs/x");
}
