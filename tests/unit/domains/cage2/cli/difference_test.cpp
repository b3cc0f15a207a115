#include "domains/cage2/cli/difference.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

namespace penstock::cage2 {
namespace {

const std::vector<double> kFirst = {-3.5, -2.8, -4.1, -3.0, -6.2, -2.8};
const std::vector<double> kSecond = {-3.9, -5.1, -2.2, -7.7};

TEST_CASE("Welch's interval is SciPy's: ttest_ind(second, first, equal_var=False)") {
  const Difference found = difference(kFirst, kSecond);
  CHECK(found.mean == doctest::Approx(-4.725 + 22.4 / 6));
  // t = -0.77855, 4.298 degrees of freedom, which count as 4, whose quantile is 2.776445.
  const double half = 2.7764451 * (found.mean / -0.7785497592311051);
  CHECK(found.high - found.mean == doctest::Approx(half).epsilon(1e-3));
  CHECK(found.mean - found.low == doctest::Approx(half).epsilon(1e-3));
  CHECK(found.high_99 - found.mean == doctest::Approx(half * 4.6040949 / 2.7764451).epsilon(1e-3));
  CHECK(found.mean - found.low_99 == doctest::Approx(found.high_99 - found.mean));
}

TEST_CASE("p is the share of all 210 ways to deal ten numbers that lie as far apart") {
  std::vector<double> all = kFirst;
  all.insert(all.end(), kSecond.begin(), kSecond.end());
  const double observed = std::abs(-18.9 / 4 + 22.4 / 6);
  int ways = 0;
  int as_far = 0;
  for (unsigned set = 0; set < 1U << 10; ++set) {
    if (std::popcount(set) != 4) { continue; }
    double inside = 0;
    double outside = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      ((set >> i & 1U) != 0 ? inside : outside) += all[i];
    }
    ++ways;
    as_far += std::abs(inside / 4 - outside / 6) >= observed - 1e-9 ? 1 : 0;
  }
  REQUIRE(ways == 210);
  const double exact = as_far / 210.0;
  CHECK(difference(kFirst, kSecond).p == doctest::Approx(exact).epsilon(0.05));
  CHECK(difference(kSecond, kFirst).p == doctest::Approx(exact).epsilon(0.05));
}

TEST_CASE("a few games that miss what is rare are not told apart, whatever their interval says") {
  std::vector<double> many(1000, -76.7);
  for (std::size_t i = 0; i < many.size(); i += 10) { many[i] = -71.3; }
  const Difference found = difference(many, {-76.7, -76.8, -76.7, -76.8, -76.8, -76.8});
  CHECK(found.high < 0);
  CHECK(found.p > 0.1);
}

TEST_CASE("what differs in every game is told apart") {
  std::vector<double> first;
  std::vector<double> second;
  for (int i = 0; i < 200; ++i) {
    first.push_back(-i % 10);
    if (i % 5 == 0) { second.push_back(-i % 10 - 10); }
  }
  CHECK(difference(first, second).p == doctest::Approx(1e-4));
}

TEST_CASE("samples without spread are equal or they are not") {
  CHECK(difference({0, 0, 0}, {0, 0}).p == 1);
  const Difference found = difference(std::vector<double>(30, 0.0), std::vector<double>(10, -1.0));
  CHECK(found.p == doctest::Approx(1e-4));
  CHECK(found.low == -1);
  CHECK(found.high == -1);
}

}  // namespace
}  // namespace penstock::cage2
