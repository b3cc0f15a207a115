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
  if (values.size() < 2) { return {mean, mean, mean}; }
  double squares = 0;
  for (const double value : values) { squares += (value - mean) * (value - mean); }
  const double n = values.size();
  const double half = student_quantile(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, mean - half, mean + half};
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
  for (const WorkflowResult& each : truth.all) {
    if (usable(options, each)) { worst = std::min(worst, each.mean_return); }
  }
  return worst;
}

}  // namespace

int best_order(const SearchOptions& options, const std::vector<WorkflowResult>& all) {
  int best = -1;
  for (int i = 0; i < std::ssize(all); ++i) {
    if (!usable(options, all[i])) { continue; }
    if (best < 0 || all[i].mean_return > all[best].mean_return) { best = i; }
  }
  return best;
}

std::vector<double> regret_of(const SearchOptions& options, const GroundTruth& truth,
                              const std::vector<Trial>& trials) {
  const double top = truth.all[truth.best].mean_return;
  const double worst = worst_return(options, truth);
  std::vector<double> regret;
  for (std::size_t t = 1; t <= trials.size(); ++t) {
    const auto chosen = best_of(options, trials, t);
    const double value = chosen ? truth.all[trials[*chosen].index].mean_return : worst;
    // An order that complied here but not in the truth may look better than the best; it is not.
    regret.push_back(std::isfinite(value) ? std::max(top - value, 0.0) : top - worst);
  }
  return regret;
}

Regret measure_regret(const SearchOptions& options, const GroundTruth& truth,
                      const std::vector<Trial>& own,
                      const std::function<Measure(int repetition)>& measure_in) {
  Regret regret;
  regret.own = regret_of(options, truth, own);
  Curves search;
  Curves random;
  for (int r = 1; r <= options.repetitions; ++r) {
    const std::uint64_t seed = episode_seed(options.seed, search::kNumOrders + 2, r);
    const Measure measure = measure_in(r);
    search.push_back(regret_of(options, truth, explore(options, seed, measure)));
    random.push_back(regret_of(options, truth, explore_randomly(options, seed, measure)));
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
