#include "penstock/core/base/deadline.h"

#include <doctest/doctest.h>

#include <thread>

using namespace penstock;

TEST_CASE("a thread's work ends at its deadline, and nobody else's") {
  CHECK_NOTHROW(check_deadline());
  {
    const DeadlineScope scope(Deadline::in(-1));
    CHECK_THROWS_AS(check_deadline(), TooLate);
    std::thread other([] { CHECK_NOTHROW(check_deadline()); });
    other.join();
  }
  CHECK_NOTHROW(check_deadline());
  const DeadlineScope scope(Deadline::in(1000));
  CHECK_NOTHROW(check_deadline());
}

TEST_CASE("a deadline passes") {
  CHECK(Deadline::in(-1e-3).passed());
  CHECK(Deadline::in(0).passed());
  CHECK_FALSE(Deadline::in(1e6).passed());
}
