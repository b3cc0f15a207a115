#include "cli/progress_bar.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace penstock;
using namespace penstock::cli;

TEST_CASE("durations and counts read well") {
  CHECK(duration_text(42) == "42s");
  CHECK(duration_text(190) == "3m10s");
  CHECK(duration_text(7500) == "2h05m");
  CHECK(count_text(999) == "999");
  CHECK(count_text(65'432) == "65.4k");
  CHECK(count_text(1'234'567) == "1.23M");
}

TEST_CASE("the bar fits the terminal and tells share, speed, reward and time left") {
  const Progress half{.timesteps = 50,
                      .total_timesteps = 100,
                      .episodes = 3,
                      .fps = 10,
                      .ep_rew_mean = 21.5,
                      .elapsed_s = 5};
  const std::string text = bar_text(half, 80, false);
  CHECK(text.size() < 80);
  CHECK(text.find(" 50% ") == 0);
  CHECK(text.find("##--") != std::string::npos);
  CHECK(text.find("reward 21.5") != std::string::npos);
  CHECK(text.find("ETA 5s") != std::string::npos);
  CHECK(bar_text({.total_timesteps = 0, .ep_rew_mean = std::nan("")}, 10, false).find("100%") == 0);
}
