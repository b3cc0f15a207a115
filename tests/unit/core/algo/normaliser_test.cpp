#include "penstock/core/algo/reward_normaliser.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "penstock/core/act/obs_normaliser.h"
#include "penstock/core/base/random.h"
#include "penstock/core/base/tree_reduce.h"

namespace normaliser_test {

using namespace penstock;

TEST_CASE("moments merged in parts equal moments of the whole") {
  Random random(3);
  Moments whole;
  std::vector<Moments> parts(5);
  for (int i = 0; i < 1000; ++i) {
    const double x = 1e6 + random.normal();
    whole.add(x);
    parts[static_cast<std::size_t>(i) % 5].add(x);
  }
  tree_reduce(std::span(parts), [](Moments& a, const Moments& b) { a.merge(b); });
  CHECK(parts[0].count == whole.count);
  CHECK(parts[0].mean == doctest::Approx(whole.mean).epsilon(1e-12));
  CHECK(parts[0].variance() == doctest::Approx(whole.variance()).epsilon(1e-6));
}

TEST_CASE("the tree is the same binary tree for any number of leaves") {
  for (std::size_t n : {1, 2, 3, 4, 5, 8}) {
    std::vector<std::string> leaves;
    for (std::size_t i = 0; i < n; ++i) { leaves.push_back(std::to_string(i)); }
    tree_reduce(std::span(leaves),
                [](std::string& a, const std::string& b) { a = "(" + a + "+" + b + ")"; });
    const std::map<std::size_t, std::string> expected = {{1, "0"},
                                                         {2, "(0+1)"},
                                                         {3, "((0+1)+2)"},
                                                         {4, "((0+1)+(2+3))"},
                                                         {5, "(((0+1)+(2+3))+4)"},
                                                         {8, "(((0+1)+(2+3))+((4+5)+(6+7)))"}};
    CHECK(leaves[0] == expected.at(n));
  }
}

TEST_CASE("shards cover the envs once, whatever the numbers") {
  for (std::size_t envs : {1, 2, 37, 64, 4096}) {
    for (std::size_t count : {1, 2, 3, 8, 100}) {
      const Shards shards(envs, count);
      std::size_t next = 0;
      for (std::size_t s = 0; s < shards.count(); ++s) {
        CHECK(shards.range(s).begin == next);
        CHECK(shards.range(s).size() > 0);
        next = shards.range(s).end;
      }
      CHECK(next == envs);
    }
  }
}

TEST_CASE("normalised features have mean 0 and deviation 1, within the clip") {
  ObsNormaliser normaliser(Layout(2), 5.0);
  Random random(1);
  std::vector<float> rows;
  for (int i = 0; i < 5000; ++i) {
    rows.push_back(static_cast<float>(100 + 3 * random.normal()));
    rows.push_back(7.0F);  // never moves
  }
  std::vector<Moments> tally(2);
  normaliser.tally(rows, tally);
  std::vector<float> unchanged = rows;
  normaliser.apply(unchanged);
  CHECK(unchanged[1] == doctest::Approx(5.0));  // nothing seen yet: mean 0, deviation 1, clipped
  normaliser.merge(tally);
  normaliser.apply(rows);
  Moments first;
  for (std::size_t i = 0; i < rows.size(); i += 2) { first.add(rows[i]); }
  CHECK(first.mean == doctest::Approx(0.0).epsilon(1e-3));
  CHECK(first.variance() == doctest::Approx(1.0).epsilon(1e-2));
  CHECK(rows[1] == doctest::Approx(0.0));
}

TEST_CASE("names and places are never scaled") {
  Layout layout(1);
  layout.append_counts("seen", {900}, 2);
  ObsNormaliser normaliser(layout, 5.0);
  std::vector<float> rows = {3, 700, -1, 5, 20, 899};
  std::vector<Moments> tally(3);
  normaliser.tally(rows, tally);
  normaliser.merge(tally);
  normaliser.apply(rows);
  CHECK(rows[0] == doctest::Approx(-1));
  CHECK(rows[3] == doctest::Approx(1));
  CHECK(rows[1] == 700);
  CHECK(rows[2] == -1);
  CHECK(rows[5] == 899);
}

TEST_CASE("rewards are divided by the deviation of the discounted return") {
  constexpr std::size_t kEnvs = 2;
  RewardNormaliser normaliser(kEnvs, 0.5, 10.0);
  std::vector<float> rewards = {1, 2, 3, 4};  // [2 steps, 2 envs]
  const bool ended[] = {false, true, false, false};
  Moments tally;
  normaliser.tally(rewards, ended, {0, kEnvs}, tally);
  // Returns by hand: env 0: 1, 3.5; env 1: 2, then the episode ends: 4.
  const double mean = (1 + 3.5 + 2 + 4) / 4;
  const double variance = (std::pow(1 - mean, 2) + std::pow(3.5 - mean, 2) + std::pow(2 - mean, 2) +
                           std::pow(4 - mean, 2)) /
                          4;
  CHECK(tally.variance() == doctest::Approx(variance));
  CHECK(normaliser.returns()[1] == doctest::Approx(4.0));
  normaliser.merge(tally);
  normaliser.apply(rewards, {0, kEnvs});
  CHECK(rewards[3] == doctest::Approx(4 / std::sqrt(variance)));
}

}  // namespace normaliser_test
