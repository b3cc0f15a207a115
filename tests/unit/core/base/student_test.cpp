#include "penstock/core/base/student.h"

#include <doctest/doctest.h>

using namespace penstock;

TEST_CASE("quantiles of Student's distribution are SciPy's") {
  struct Row {
    std::size_t freedom;
    double of_95;
    double of_99;
  };
  // scipy.stats.t.ppf(0.975, n) and (0.995, n).
  constexpr Row kRows[] = {
      {1, 12.7062, 63.65674},      {2, 4.302653, 9.924843},  {5, 2.570582, 4.032143},
      {10, 2.228139, 3.169273},    {29, 2.04523, 2.756386},  {30, 2.042272, 2.749996},
      {31, 2.039513, 2.744042},    {32, 2.036933, 2.738481}, {40, 2.021075, 2.704459},
      {60, 2.000298, 2.660283},    {120, 1.97993, 2.617421}, {1000, 1.962339, 2.580755},
      {100000, 1.959988, 2.575878}};
  for (const Row& row : kRows) {
    CAPTURE(row.freedom);
    CHECK(student_quantile(row.freedom) == doctest::Approx(row.of_95).epsilon(5e-5));
    CHECK(student_quantile_99(row.freedom) == doctest::Approx(row.of_99).epsilon(2e-4));
  }
}
