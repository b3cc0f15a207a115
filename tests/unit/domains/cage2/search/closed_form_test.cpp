#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "domains/cage2/search/compliance_model.h"
#include "domains/cage2/search/regret.h"
#include "penstock/domains/cage2/search/acquisition.h"
#include "penstock/domains/cage2/search/report.h"
#include "penstock/domains/cage2/search/synthetic.h"

namespace closed_form_test {

using namespace penstock::cage2;
using namespace penstock::cage2::search;

namespace {

constexpr double kExact = 1e-10;

/// An order and others at Kendall distances 1 and 10 of it: one swap, and the reverse.
constexpr int kFirst = 0;
const int kNeighbour = index_of({1, 0, 2, 3, 4});
const int kReverse = 119;

WorkflowResult returned(int index, double value, bool compliant = true, double error = 1) {
  WorkflowResult result{};
  result.order = all_orders()[static_cast<std::size_t>(index)];
  result.mean_return = value;
  result.std_error = error;
  result.compliance = compliant ? 0.97 : 0.5;
  result.compliant = compliant;
  return result;
}

Trial tried(int index, double value, bool compliant = true) {
  return {.index = index, .batch = 0, .runs = {returned(index, value, compliant)}};
}

Measured once(int index, double value, bool compliant = true) {
  return measured_of({tried(index, value, compliant)}).front();
}

/// A truth in which order i returns -i, and the even ones comply.
GroundTruth falling_truth() {
  GroundTruth truth;
  for (int i = 0; i < kNumOrders; ++i) { truth.all.push_back(once(i, -i, i % 2 == 0)); }
  truth.best = 0;
  return truth;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

TEST_CASE("one observation: the posterior in closed form") {
  const Hyper hyper{.lambda = 0.3, .signal_variance = 9};
  const std::vector<Measurement> data = {{kFirst, 5, 1}};
  const Posterior found = posterior(data, hyper, 2.0);
  // The gain is s k / (s + v), k = exp(-lambda d).
  for (const auto& [order, swaps] : {std::pair{kFirst, 0}, {kNeighbour, 1}, {kReverse, 10}}) {
    const int distance = swaps;
    CAPTURE(distance);
    const double k = std::exp(-0.3 * distance);
    CHECK(found.mean[order] == doctest::Approx(2 + 9 * k / 10 * 3).epsilon(kExact));
    CHECK(found.std[order] == doctest::Approx(std::sqrt(9 - 81 * k * k / 10)).epsilon(kExact));
  }
  // Centred on itself a single value is explained by the prior mean alone.
  CHECK(posterior(data, hyper).mean[kReverse] == doctest::Approx(5).epsilon(kExact));
  CHECK(log_marginal(data, hyper) ==
        doctest::Approx(-0.5 * std::log(2 * std::numbers::pi * 10)).epsilon(kExact));
}

TEST_CASE("two observations: the posterior by the inverse of a two by two matrix") {
  const Hyper hyper{.lambda = 0.2, .signal_variance = 4, .noise_variance = 0.5};
  const std::vector<Measurement> data = {{kFirst, 3, 1}, {kNeighbour, -1, 2}};
  const double centre = 1;
  const double a = 4 + 0.5 + 1;
  const double d = 4 + 0.5 + 2;
  const double b = 4 * std::exp(-0.2);
  const double determinant = a * d - b * b;
  const double y0 = 3 - centre;
  const double y1 = -1 - centre;
  const double alpha0 = (d * y0 - b * y1) / determinant;
  const double alpha1 = (a * y1 - b * y0) / determinant;
  const Posterior found = posterior(data, hyper);
  for (int order = 0; order < kNumOrders; ++order) {
    const double k0 = 4 * std::exp(-0.2 * kendall_distance(kFirst, order));
    const double k1 = 4 * std::exp(-0.2 * kendall_distance(kNeighbour, order));
    REQUIRE(found.mean[order] ==
            doctest::Approx(centre + k0 * alpha0 + k1 * alpha1).epsilon(kExact));
    const double known = (d * k0 * k0 - 2 * b * k0 * k1 + a * k1 * k1) / determinant;
    REQUIRE(found.std[order] == doctest::Approx(std::sqrt(4 - known)).epsilon(kExact));
  }
  const double fit = y0 * alpha0 + y1 * alpha1;
  CHECK(log_marginal(data, hyper) ==
        doctest::Approx(-0.5 * fit - 0.5 * std::log(determinant) - std::log(2 * std::numbers::pi))
            .epsilon(kExact));
}

TEST_CASE("an order measured twice is one measured once with half the variance") {
  const Hyper hyper{.lambda = 0.4, .signal_variance = 7};
  const Posterior twice =
      posterior(std::vector<Measurement>{{kFirst, 2, 3}, {kFirst, 6, 3}}, hyper, 1.0);
  const Posterior once = posterior(std::vector<Measurement>{{kFirst, 4, 1.5}}, hyper, 1.0);
  for (const int order : {kFirst, kNeighbour, kReverse}) {
    CHECK(twice.mean[order] == doctest::Approx(once.mean[order]).epsilon(kExact));
    CHECK(twice.std[order] == doctest::Approx(once.std[order]).epsilon(kExact));
  }
}

TEST_CASE("upper bounds weigh doubt by the root of beta") {
  const std::vector<Measurement> data = {{kFirst, 5, 1}, {kReverse, -5, 1}};
  const Hyper hyper{.lambda = 0.3, .signal_variance = 9};
  const Posterior belief = posterior(data, hyper);
  const Scores bounds = upper_bounds(belief, 6.25);
  for (const int order : {kFirst, kNeighbour, 60}) {
    CHECK(bounds[order] ==
          doctest::Approx(belief.mean[order] + 2.5 * belief.std[order]).epsilon(kExact));
  }
  // Without doubt the best known is picked; with much of it, what is farthest from both.
  Flags none{};
  CHECK(pick_batch(data, hyper, {.size = 1, .beta = 0}, none) == std::vector<int>{kFirst});
  const int explored = pick_batch(data, hyper, {.size = 1, .beta = 1e6}, none).at(0);
  CHECK(belief.std[explored] == doctest::Approx(*std::ranges::max_element(belief.std)));
}

TEST_CASE("each order of a first design is as far from the nearest as any that is left") {
  for (int seed = 0; seed < 6; ++seed) {
    Flags taken{};
    taken[17] = true;
    const auto nearest = [&](int order) {
      int least = 99;
      for (int i = 0; i < kNumOrders; ++i) {
        if (taken[i]) { least = std::min(least, kendall_distance(i, order)); }
      }
      return least;
    };
    for (const int pick : pick_apart(7, static_cast<std::uint64_t>(seed), taken)) {
      int most = 0;
      for (int i = 0; i < kNumOrders; ++i) { most = std::max(most, taken[i] ? 0 : nearest(i)); }
      REQUIRE(nearest(pick) == most);
      taken[pick] = true;
    }
  }
}

TEST_CASE("regret is against the best that complies, by the truth of what would be chosen") {
  SearchOptions options;
  const GroundTruth truth = falling_truth();
  // Order 6 looks best in its trial (+4), order 2 is better in truth.
  const std::vector<Trial> trials = {tried(7, 90, false), tried(6, 4), tried(2, -2), tried(0, 5)};
  const std::vector<double> regret = detail::regret_of(options, truth, trials);
  // While nothing has complied the worst that complies is chosen: order 118.
  CHECK(regret == std::vector<double>{118, 6, 6, 0});
  // What complied by chance and not in truth counts as the worst, though its return is high.
  GroundTruth tempting = truth;
  tempting.all[3].result.mean_return = 50;
  CHECK(detail::regret_of(options, tempting, {tried(3, 9)}) == std::vector<double>{118});
  options.only_compliant = false;
  CHECK(detail::regret_of(options, truth, trials) == std::vector<double>{7, 7, 7, 7});
}

TEST_CASE("the best order is the first of the highest that count") {
  SearchOptions options;
  std::vector<Measured> all = {once(0, 9, false), once(1, 3), once(2, 3)};
  CHECK(detail::best_of(options, all) == 1);
  options.only_compliant = false;
  CHECK(detail::best_of(options, all) == 0);
  options.only_compliant = true;
  all[1].result.compliant = all[2].result.compliant = false;
  CHECK_FALSE(detail::best_of(options, all));
  CHECK_FALSE(detail::best_of(options, {}));
}

TEST_CASE("orders are ranked by return, those that do not count behind, NaN last") {
  const SearchOptions options;
  const std::vector<Measured> orders = {once(0, 1), once(1, 9, false), once(2, 5), once(3, 5),
                                        once(4, std::nan(""))};
  CHECK(detail::rank(options, orders) == std::vector<int>{2, 3, 0, 1, 4});
  CHECK(detail::best_of(options, orders) == 2);
}

TEST_CASE("orders that hardly comply are passed over, as long as enough are left") {
  Scores chance{};
  chance.fill(0.1);
  chance[5] = 0.9;
  chance[8] = 0.8;
  chance[9] = 0.31;
  Flags taken{};
  taken[5] = true;
  const auto left_in = [](const Flags& flags) {
    std::vector<int> left;
    for (int i = 0; i < kNumOrders; ++i) {
      if (!flags[i]) { left.push_back(i); }
    }
    return left;
  };
  CHECK(left_in(detail::without_unlikely(taken, chance, 1)) == std::vector<int>{8, 9});
  CHECK(left_in(detail::without_unlikely(taken, chance, 2)) == std::vector<int>{8, 9});
  // Three are asked for: the likeliest of the unlikely ones is let in, the first among equals.
  CHECK(left_in(detail::without_unlikely(taken, chance, 3)) == std::vector<int>{0, 8, 9});
  CHECK(detail::pick_likeliest(2, chance, taken) == std::vector<int>{8, 9});
}

TEST_CASE("the chance to comply falls near what did not and rises near what did") {
  SearchOptions options;
  CHECK(detail::chance_to_comply(options, {})[7] == 1);
  const std::vector<Measured> orders = {once(kFirst, 1, false), once(kReverse, 1, true)};
  const Scores chance = detail::chance_to_comply(options, orders);
  CHECK(chance[kFirst] < chance[kNeighbour]);
  CHECK(chance[kNeighbour] < chance[kReverse]);
  for (const double each : chance) {
    CHECK(each >= 0);
    CHECK(each <= 1);
  }
}

TEST_CASE("intervals of many repetitions come close to the normal's") {
  // scipy.stats.t.ppf(0.975, [1, 9, 60, 100]) = 12.7062, 2.2622, 2.0003, 1.9840.
  for (const auto& [degrees, quantile] :
       {std::pair{1, 12.7062}, {9, 2.2622}, {60, 2.0003}, {100, 1.9840}}) {
    std::vector<double> values(static_cast<std::size_t>(degrees) + 1, 0.0);
    CAPTURE(values.size());
    values[0] = 1;
    const auto n = static_cast<double>(values.size());
    const double variance = (1 - 1 / n) / (n - 1);  // of a one and zeros
    const Interval found = interval_of(values);
    CHECK(found.mean == doctest::Approx(1 / n));
    const double error = std::sqrt(variance / n);
    CHECK((found.high - found.mean) / error == doctest::Approx(quantile).epsilon(0.001));
    CHECK(found.mean - found.low == doctest::Approx(found.high - found.mean));
  }
}

TEST_CASE("the table of orders ranks all by belief and shows what was measured of a few") {
  SearchOptions options;
  SearchResult result;
  result.measured = {once(4, -10), once(9, -3, false)};
  for (int i = 0; i < kNumOrders; ++i) {
    result.candidates.push_back(i);
    result.belief.posterior.mean[i] = -i;
    result.belief.posterior.std[i] = 0.5;
  }
  const std::vector<std::string> lines = lines_in(orders_csv(options, result));
  REQUIRE(lines.size() == 121);
  const auto columns = [](const std::string& line) { return std::ranges::count(line, ','); };
  for (const std::string& line : lines) { CHECK(columns(line) == columns(lines[0])); }
  CHECK(lines[1] == "1,0,defender > enterprise > op_server > op_host > user,0,0.5,0,,,,,,,,,,,,,,");
  CHECK(lines[5].starts_with("5,4,"));
  CHECK(lines[5].find(",-4,0.5,1,1,-10,1,0.97,1,0,") != std::string::npos);
  CHECK(lines[10].find(",-9,0.5,0,1,-3,1,0.5,0,0,") != std::string::npos);  // it does not count
  CHECK(regret_csv(result).find('\n') == regret_csv(result).size() - 1);    // the header alone

  result.truth = falling_truth();
  result.truth->regret = Regret{.own = {3, 0}};
  CHECK(lines_in(orders_csv(options, result))[8].ends_with(",-7,1,0.5"));
  CHECK(lines_in(regret_csv(result)) ==
        std::vector<std::string>{lines_in(regret_csv(result))[0], "1,3,,,,,,", "2,0,,,,,,"});
}

TEST_CASE("every point of a curve is a line, and what is not finite an empty cell") {
  SearchResult result;
  result.trials = {tried(4, -10)};
  result.trials[0].runs[0].curve = {{100, -55.5, 0.25}, {200, std::nan(""), 0.5}};
  CHECK(curves_csv(result) ==
        "run,index,steps,reward,compliance\nsearch,4,100,-55.5,0.25\nsearch,4,200,,0.5\n");
}

TEST_CASE("a synthetic world is its landscape's, and its noise the job's") {
  const Synthetic world{.landscape = 3, .noise = 0};
  WorkflowJob job;
  job.order = all_orders()[42];
  CHECK(world(job).mean_return == world.value_of(job.order));
  const Synthetic noisy{.landscape = 3, .noise = 2};
  CHECK(noisy(job).mean_return == noisy(job).mean_return);
  const double before = noisy(job).mean_return;
  job.seed = 1;
  CHECK(noisy(job).mean_return != before);
  // The standard error is honest: over many jobs, deviations are of its size.
  double squares = 0;
  constexpr int kJobs = 2000;
  for (int i = 0; i < kJobs; ++i) {
    job.seed = static_cast<std::uint64_t>(i);
    const WorkflowResult result = noisy(job);
    squares += std::pow((result.mean_return - world.value_of(job.order)) / result.std_error, 2);
  }
  CHECK(squares / kJobs == doctest::Approx(1).epsilon(0.1));
}

}  // namespace closed_form_test
