#include "app/cli/progress_bar.h"

#include <doctest/doctest.h>

#include <algorithm>
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
                      .elapsed_s = 5,
                      .done = 0.5,
                      .left_s = 5};
  const std::string text = bar_text(half, 80, false);
  CHECK(text.size() < 80);
  CHECK(text.find(" 50% ") == 0);
  CHECK(text.find("##--") != std::string::npos);
  CHECK(text.find("reward 21.5") != std::string::npos);
  CHECK(text.find("ETA 5s") != std::string::npos);
  CHECK(text.find(" 50/100 ") != std::string::npos);
  CHECK(bar_text({.ep_rew_mean = std::nan(""), .done = 1}, 10, false).find("100%") == 0);
  // Where episodes or the clock may end the run, no number of steps is promised.
  CHECK(bar_text({.timesteps = 50, .ep_rew_mean = 0, .done = 0.25}, 80, false).find(" 50 steps ") !=
        std::string::npos);
}

TEST_CASE("seconds are rounded before they are split, so that no minute has sixty") {
  CHECK(duration_text(0) == "0s");
  CHECK(duration_text(59.4) == "59s");
  CHECK(duration_text(59.6) == "1m00s");
  CHECK(duration_text(3599.6) == "1h00m");
  CHECK(duration_text(90'000) == "25h00m");
}

TEST_CASE("counts have three digits and the letter of their thousand") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(1000) == "1k");
  CHECK(count_text(12'345) == "12.3k");
  CHECK(count_text(2.5e9) == "2.5G");
  CHECK(count_text(123'456'789) == "123M");
  CHECK(count_text(999.7) == "1k");
  CHECK(count_text(999'499) == "999k");
  CHECK(count_text(999'500) == "1M");
  CHECK(count_text(999'999) == "1M");
  CHECK(count_text(999'999'999) == "1G");
}

TEST_CASE("the bar is as full as the run, whatever the room") {
  for (const int width : {70, 80, 100, 200}) {
    for (const std::int64_t done : {0, 10, 37, 100, 250}) {  // the last: beyond its budget
      CAPTURE(width);
      CAPTURE(done);
      const double part = std::min(1.0, static_cast<double>(done) / 100);
      const Progress progress{.timesteps = done,
                              .total_timesteps = 100,
                              .fps = 1,
                              .ep_rew_mean = std::nan(""),
                              .done = part,
                              .left_s = 100 * (1 - part)};
      const std::string text = bar_text(progress, width, false);
      CHECK(text.size() < static_cast<std::size_t>(width));
      const auto full = std::count(text.begin(), text.end(), '#');
      const auto empty = std::count(text.begin(), text.end(), '-');
      REQUIRE(full + empty > 0);
      CHECK(full + empty <= 40);
      CHECK(std::abs(static_cast<double>(full) / static_cast<double>(full + empty) - part) <=
            0.5 / static_cast<double>(full + empty) + 1e-9);
      CHECK(text.find("reward") == std::string::npos);  // no episode has ended
      CHECK((text.find("ETA 0s") != std::string::npos) == (done >= 100));
    }
  }
}

TEST_CASE("a run that has no speed yet does not promise an end") {
  const std::string text =
      bar_text({.total_timesteps = 100, .fps = 0, .ep_rew_mean = -1.25}, 80, true);
  CHECK(text.find("ETA ?") != std::string::npos);
  CHECK(text.find("reward -1.2") != std::string::npos);
  CHECK(text.find("░") != std::string::npos);
  CHECK(text.find("█") == std::string::npos);
}
