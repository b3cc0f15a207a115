#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "penstock/core/base/random.h"
#include "penstock/domains/booking/neural/train/oracle_report.h"

using namespace penstock;
using namespace penstock::booking;

namespace {

/// Spearman's own formula, which holds where there are no ties.
double by_squared_differences(const std::vector<double>& permutation) {
  const auto n = static_cast<double>(permutation.size());
  double squares = 0;
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    const double difference = permutation[i] - static_cast<double>(i);
    squares += difference * difference;
  }
  return 1 - 6 * squares / (n * (n * n - 1));
}

/// Pearson's correlation of ranks that are counted, not sorted: those below, and half of the equal.
double by_counting(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<double> out;
    for (const double value : values) {
      double rank = 0;
      for (const double other : values) { rank += other < value ? 1 : other == value ? 0.5 : 0; }
      out.push_back(rank);
    }
    return out;
  };
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const auto n = static_cast<double>(a.size());
  const auto dot = [&](const std::vector<double>& p, const std::vector<double>& q) {
    return std::inner_product(p.begin(), p.end(), q.begin(), 0.0) / n -
           std::accumulate(p.begin(), p.end(), 0.0) / n * std::accumulate(q.begin(), q.end(), 0.0) /
               n;
  };
  return dot(x, y) / std::sqrt(dot(x, x) * dot(y, y));
}

}  // namespace

TEST_CASE("the rank correlation of every permutation of six is Spearman's formula") {
  std::vector<double> order = {0, 1, 2, 3, 4, 5};
  const std::vector<double> sorted = order;
  double sum = 0;
  int count = 0;
  do {
    const double found = rank_correlation(sorted, order);
    REQUIRE(found == doctest::Approx(by_squared_differences(order)).epsilon(1e-12));
    sum += found;
    ++count;
  } while (std::ranges::next_permutation(order).found);
  CHECK(count == 720);
  CHECK(std::abs(sum) < 1e-9);  // over all orders it is as often against as along
}

TEST_CASE("ties have mean ranks, wherever they stand") {
  Random random(3);
  int tied = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> a(9);
    std::vector<double> b(9);
    for (double& x : a) { x = random.below(5); }
    for (double& x : b) { x = 10.0 * random.below(4) - 15; }
    std::vector<double> distinct = a;
    std::ranges::sort(distinct);
    tied += std::ranges::adjacent_find(distinct) != distinct.end() ? 1 : 0;
    if (distinct.front() == distinct.back() || std::ranges::min(b) == std::ranges::max(b)) {
      REQUIRE(rank_correlation(a, b) == 0);
      continue;
    }
    REQUIRE(rank_correlation(a, b) == doctest::Approx(by_counting(a, b)).epsilon(1e-9));
  }
  CHECK(tied == 200);  // nine values of five
}

TEST_CASE("only the order of costs matters") {
  const std::vector<double> costs = {812, 790, 1004, 955, 790, 870};
  const std::vector<double> others = {3, 1, 9, 7, 2, 2};
  std::vector<double> stretched;
  for (const double cost : costs) { stretched.push_back(std::exp(cost / 100) - 5); }
  std::vector<double> turned;
  for (const double cost : costs) { turned.push_back(-cost); }
  const double plain = rank_correlation(costs, others);
  CHECK(plain > 0.5);
  CHECK(rank_correlation(stretched, others) == doctest::Approx(plain));
  CHECK(rank_correlation(others, costs) == doctest::Approx(plain));
  CHECK(rank_correlation(turned, others) == doctest::Approx(-plain));
  CHECK(rank_correlation({}, {}) == 0);
  CHECK(rank_correlation({4}, {5}) == 0);
}

TEST_CASE("a report has the tables that it has rows for") {
  OracleReport report;
  CHECK(report.text().empty());
  CHECK(report.json() == R"({"sizes": [], "ranks": [], "speeds": []})");

  report.ranks.push_back({.mode = Mode::deliver, .questions = 7, .neural = 0.25, .longer = 0.75});
  CHECK(report.text().find("rank correlation of 16 offers with rr-200") != std::string::npos);
  CHECK(report.text().find("deliver          7   0.250") != std::string::npos);
  CHECK(report.text().find("rr-1000 km") == std::string::npos);
  CHECK(report.text().find("per second") == std::string::npos);

  report.ranks.clear();
  report.speeds.push_back({.mode = Mode::ride, .batch = 64, .per_second = 1234.4});
  CHECK(report.text().find("ride     batch  64     1234\n") != std::string::npos);
  CHECK(report.json() == R"({"sizes": [], "ranks": [], "speeds": [{"mode": "ride", "batch": 64, )"
                         R"("per_second": 1234.4}]})");

  report.speeds.clear();
  report.sizes.push_back({.mode = Mode::ride,
                          .requests = 20,
                          .days = 3,
                          .reference_km = 81.25,
                          .gap = 0.0512,
                          .first_try = 0.5,
                          .feasible = 1});
  report.sizes.push_back(report.sizes[0]);
  CHECK(report.text().find("   5.12") != std::string::npos);  // shares are told in percent
  CHECK(report.text().find("   100.0%\n") != std::string::npos);
  CHECK(report.json().find(R"("gap": 0.0512, )") != std::string::npos);
  CHECK(report.json().find(R"("feasible": 1}, {"mode": "ride")") != std::string::npos);
}
