#include "domains/cage2/cli/welch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

namespace penstock::cage2 {
namespace {

TEST_CASE("the tails of Student's t: closed forms of one, two and four degrees of freedom") {
  for (const double t : {0.1, 0.7, 1.0, 2.5, 12.0}) {
    CAPTURE(t);
    CHECK(student_p(t, 1) == doctest::Approx(1 - 2 / std::numbers::pi * std::atan(t)));
    CHECK(student_p(t, 2) == doctest::Approx(1 - t / std::sqrt(2 + t * t)));
    const double s = t / std::sqrt(4 + t * t);
    CHECK(student_p(t, 4) == doctest::Approx(1 - s * (1.5 - 0.5 * s * s)));
    CHECK(student_p(-t, 4) == student_p(t, 4));
  }
  CHECK(student_p(0, 3) == 1);
}

TEST_CASE("and SciPy's of broken ones: 2 * scipy.stats.t.sf(t, freedom)") {
  CHECK(student_p(0.5, 3.7) == doctest::Approx(0.6453356333199318).epsilon(1e-10));
  CHECK(student_p(2.0, 11.3) == doctest::Approx(0.070118861918235).epsilon(1e-10));
  CHECK(student_p(3.3, 250.5) == doctest::Approx(0.001107423304007108).epsilon(1e-10));
  CHECK(student_p(8.0, 30) == doctest::Approx(6.265822475700759e-09).epsilon(1e-8));
}

TEST_CASE("Welch's test is SciPy's: ttest_ind(second, first, equal_var=False)") {
  const WelchTest test = welch({-3.5, -2.8, -4.1, -3.0, -6.2, -2.8}, {-3.9, -5.1, -2.2, -7.7});
  CHECK(test.p == doctest::Approx(0.4768869426413859).epsilon(1e-10));
  CHECK(test.difference == doctest::Approx(-4.725 + 22.4 / 6));
  // 4.298 degrees of freedom count as 4, whose quantile is 2.776445.
  const double half = 2.7764451 * (test.difference / -0.7785497592311051);
  CHECK(test.high - test.difference == doctest::Approx(half).epsilon(1e-3));
  CHECK(test.difference - test.low == doctest::Approx(half).epsilon(1e-3));
}

TEST_CASE("samples without spread are equal or they are not") {
  CHECK(welch({0, 0, 0}, {0, 0}).p == 1);
  const WelchTest test = welch({0, 0, 0}, {-1, -1});
  CHECK(test.p == 0);
  CHECK(test.low == -1);
  CHECK(test.high == -1);
}

}  // namespace
}  // namespace penstock::cage2
