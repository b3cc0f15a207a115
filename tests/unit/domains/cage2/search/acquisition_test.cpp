#include "penstock/domains/cage2/search/acquisition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support.h"

namespace acquisition_test {

using namespace penstock::cage2::search;
using namespace penstock::cage2::search::test;

namespace {

const Hyper kHyper{.lambda = 0.2, .signal_variance = 150};

Flags taken_by(const std::vector<Measurement>& data) {
  Flags taken{};
  for (const Measurement& each : data) { taken[each.order] = true; }
  return taken;
}

int distance_within(const std::vector<int>& picks) {
  int nearest = kNumPairs;
  for (const int a : picks) {
    for (const int b : picks) {
      if (a != b) { nearest = std::min(nearest, kendall_distance(a, b)); }
    }
  }
  return nearest;
}

}  // namespace

TEST_CASE("upper bounds rank as scikit-learn's do") {
  const auto data = golden_data(golden()["fixed"]["noise_var"]);
  const auto order = ranked(upper_bounds(posterior(data, kHyper), 4.0));  // mean + 2 std
  CHECK(order[0] == golden()["fixed"]["ucb_beta2_argmax"].get<int>());
  CHECK(std::vector<int>(order.begin(), order.begin() + 10) ==
        golden()["fixed"]["ucb_order"].get<std::vector<int>>());
}

TEST_CASE("beta grows with the logarithm of time") {
  CHECK(beta_at(1, 0.1) == doctest::Approx(2 * std::log(120 * M_PI * M_PI / 0.6)).epsilon(1e-12));
  CHECK(beta_at(10, 0.1) - beta_at(1, 0.1) == doctest::Approx(4 * std::log(10.0)).epsilon(1e-12));
}

TEST_CASE("equal scores are ranked by index") {
  Scores scores{};
  scores[50] = 1;
  const auto order = ranked(scores);
  CHECK(order[0] == 50);
  CHECK(order[1] == 0);
  CHECK(order[119] == 119);
}

TEST_CASE("a batch begins with the best bound, takes nothing twice and spreads out") {
  const auto data = golden_data(4);
  const Flags taken = taken_by(data);
  for (const Liar liar : {Liar::lowest, Liar::mean, Liar::highest}) {
    const auto picks = pick_batch(data, kHyper, {.size = 6, .beta = 4, .liar = liar}, taken);
    CHECK(picks.size() == 6);
    CHECK(picks[0] == 9);
    CHECK(std::set<int>(picks.begin(), picks.end()).size() == 6);
    CHECK(std::none_of(picks.begin(), picks.end(), [&](int i) { return taken[i]; }));
    // The first pick alone decides what a smaller batch holds.
    CHECK(pick_batch(data, kHyper, {.size = 1, .beta = 4, .liar = liar}, taken)[0] == picks[0]);
  }
  // Without the lie the second pick would be the second best bound, a neighbour of the first.
  const auto bounds = ranked(upper_bounds(posterior(data, kHyper), 4.0));
  const auto picks = pick_batch(data, kHyper, {.size = 2, .beta = 4, .liar = Liar::lowest}, taken);
  CHECK(picks[1] != bounds[1]);
  CHECK(kendall_distance(picks[0], picks[1]) > kendall_distance(picks[0], bounds[1]));
}

TEST_CASE("a batch ends when all orders are taken") {
  Flags taken{};
  taken.fill(true);
  taken[17] = taken[99] = false;
  const auto picks = pick_batch(golden_data(4), kHyper, {.size = 5}, taken);
  CHECK(std::set<int>(picks.begin(), picks.end()) == std::set<int>{17, 99});
  CHECK(pick_apart(5, 1, taken).size() == 2);
  CHECK(pick_random(5, 1, taken).size() == 2);
}

TEST_CASE("a first design lies far apart, each seed has its own") {
  std::set<std::vector<int>> designs;
  for (int seed = 0; seed < 20; ++seed) {
    const auto picks = pick_apart(5, seed, {});
    CHECK(distance_within(picks) >= 4);
    CHECK(picks == pick_apart(5, seed, {}));
    const auto more = pick_apart(9, seed, {});
    CHECK(std::equal(picks.begin(), picks.end(), more.begin()));
    designs.insert(picks);
  }
  CHECK(designs.size() > 15);
}

TEST_CASE("random picks are drawn without repetition, a longer draw begins like a shorter one") {
  const auto all = pick_random(120, 3, {});
  CHECK(std::set<int>(all.begin(), all.end()).size() == 120);
  const auto few = pick_random(20, 3, {});
  CHECK(std::equal(few.begin(), few.end(), all.begin()));
  CHECK(pick_random(20, 4, {}) != few);
}

TEST_CASE("a random pick is any of those left, the first and the last as often as the others") {
  Flags taken{};
  taken.fill(true);
  for (const int order : {3, 40, 77, 119}) { taken[static_cast<std::size_t>(order)] = false; }
  std::map<int, int> counts;
  constexpr int kDraws = 2000;
  for (int seed = 0; seed < kDraws; ++seed) { ++counts[pick_random(1, seed, taken).at(0)]; }
  CHECK(counts.size() == 4);
  for (const auto& drawn : counts) {
    CAPTURE(drawn.first);
    CHECK(drawn.second > kDraws / 4 - 4 * 20);  // four deviations
    CHECK(drawn.second < kDraws / 4 + 4 * 20);
  }
}

}  // namespace acquisition_test
