#include "domains/cage2/search/regret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "penstock/core/base/random.h"
#include "penstock/core/base/student.h"

namespace penstock::cage2 {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

}  // namespace

Interval interval_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  if (values.size() < 2) { return {mean, mean, mean, mean, mean}; }
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  const double n = values.size();
  const double error = std::sqrt(squares / (n - 1) / n);
  const double half = student_quantile(values.size() - 1) * error;
  const double half_99 = student_quantile_99(values.size() - 1) * error;
  return {mean, mean - half, mean + half, mean - half_99, mean + half_99};
}

namespace detail {
namespace {

using Curves = std::vector<std::vector<double>>;  // by repetition

std::vector<Interval> intervals_of(const Curves& curves) {
  std::vector<Interval> intervals;
  for (std::size_t t = 0; t < curves.front().size(); ++t) {
    std::vector<double> values;
    values.reserve(curves.size());
    for (const auto& curve : curves) { values.push_back(curve[t]); }
    intervals.push_back(interval_of(values));
  }
  return intervals;
}

template <class Summary>
std::vector<double> summarise(const Curves& curves, Summary summary) {
  std::vector<double> values;
  values.reserve(curves.size());
  for (const auto& curve : curves) { values.push_back(summary(curve)); }
  return values;
}

Interval gain_of(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> gains;
  gains.reserve(ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i) { gains.push_back(theirs[i] - ours[i]); }
  return interval_of(gains);
}

double worst_return(const SearchOptions& options, const GroundTruth& truth) {
  double worst = std::numeric_limits<double>::infinity();
  for (const Measured& each : truth.all) {
    if (usable(options, each.result)) { worst = std::min(worst, each.result.mean_return); }
  }
  return worst;
}

/// The true value of the order that the trials choose; the worst when they choose none, or one that
/// does not count.
double chosen_return(const SearchOptions& options, const GroundTruth& truth,
                     const std::vector<Trial>& trials) {
  const std::vector<Measured> seen = measured_of(trials);
  const std::optional<int> chosen = best_of(options, seen);
  if (!chosen) { return worst_return(options, truth); }
  const auto there = std::ranges::find(truth.all, seen[*chosen].index, &Measured::index);
  return usable(options, there->result) ? there->result.mean_return : worst_return(options, truth);
}

}  // namespace

std::vector<double> regret_of(const SearchOptions& options, const GroundTruth& truth,
                              const std::vector<Trial>& trials) {
  const double top = truth.all[truth.best].result.mean_return;
  std::vector<double> regret;
  std::vector<Trial> so_far;
  for (const Trial& trial : trials) {
    so_far.push_back(trial);
    regret.push_back(top - chosen_return(options, truth, so_far));
  }
  return regret;
}

Regret measure_regret(const SearchOptions& options, const GroundTruth& truth,
                      const SearchResult& found,
                      const std::function<Measure(int repetition)>& measure_in) {
  Regret regret;
  regret.own = regret_of(options, truth, found.trials);
  Curves search;
  Curves random;
  for (int r = 1; r <= options.repetitions; ++r) {
    const std::uint64_t seed = episode_seed(options.seed, search::kNumOrders + 2, r);
    const Measure measure = measure_in(r);
    search.push_back(regret_of(options, truth, explore(options, found.candidates, seed, measure)));
    random.push_back(
        regret_of(options, truth, explore_randomly(options, found.candidates, seed, measure)));
  }
  if (search.empty()) { return regret; }
  regret.search = intervals_of(search);
  regret.random = intervals_of(random);
  const auto last = [](const std::vector<double>& curve) { return curve.back(); };
  regret.search_final = summarise(search, last);
  regret.random_final = summarise(random, last);
  regret.gain = gain_of(regret.search_final, regret.random_final);
  regret.mean_gain = gain_of(summarise(search, mean_of), summarise(random, mean_of));
  return regret;
}

}  // namespace detail
}  // namespace penstock::cage2
