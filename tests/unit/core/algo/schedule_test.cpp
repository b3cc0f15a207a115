#include "core/algo/schedule.h"

#include <doctest/doctest.h>

#include "penstock/core/base/errors.h"

namespace schedule_test {

using penstock::detail::Schedule;

namespace {

Schedule of(const std::string& text, double warm_up = 0) { return {text, "ppo.x", warm_up}; }

}  // namespace

TEST_CASE("a line falls to 0 and stays there; a constant stays") {
  CHECK(of("linear")(0) == 1);
  CHECK(of("linear")(0.75) == doctest::Approx(0.25));
  CHECK(of("linear")(1.2) == 0);  // the last update may overshoot
  CHECK(of("constant")(0.75) == 1);
}

TEST_CASE("a cosine is half down at half of the run") {
  CHECK(of("cosine")(0) == 1);
  CHECK(of("cosine")(0.25) == doctest::Approx((1 + 0.7071067811865476) / 2));
  CHECK(of("cosine")(0.5) == doctest::Approx(0.5));
  CHECK(of("cosine")(1) == doctest::Approx(0));
}

TEST_CASE("points are joined by straight lines, and hold beyond the first and the last") {
  const Schedule schedule = of("0.2:1, 0.6:0.5,0.8:0.1");
  CHECK(schedule(0) == 1);
  CHECK(schedule(0.4) == doctest::Approx(0.75));
  CHECK(schedule(0.6) == doctest::Approx(0.5));
  CHECK(schedule(0.7) == doctest::Approx(0.3));
  CHECK(schedule(1) == doctest::Approx(0.1));
}

TEST_CASE("warming up rises from a tenth and leaves the rest alone") {
  CHECK(of("constant", 0.1)(0) == doctest::Approx(0.1));
  CHECK(of("constant", 0.1)(0.05) == doctest::Approx(0.55));
  CHECK(of("linear", 0.1)(0.5) == of("linear")(0.5));
}

TEST_CASE("what is no schedule is refused by its key") {
  for (const char* text :
       {"", "liner", "0:1,", "0.5:1,0.2:0", "0:1,0.5", "2:1", "0:-1", "0:x", "0:nan"}) {
    CHECK_THROWS_WITH_AS(of(text), doctest::Contains("ppo.x = "), penstock::ConfigError);
  }
}

}  // namespace schedule_test
