#include "domains/cage2/search/gp_ucb.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "domains/cage2/search/compliance_model.h"
#include "penstock/core/base/random.h"

namespace penstock::cage2::detail {
namespace {

using search::Flags;
using search::Hyper;
using search::HyperBounds;
using search::Measurement;

std::vector<Measurement> observations(const SearchOptions& options,
                                      const std::vector<Measured>& orders) {
  std::vector<Measurement> data;
  for (const Measured& order : orders) {
    const WorkflowResult& r = order.result;
    if (usable(options, r)) {
      data.push_back({order.index, r.mean_return, r.std_error * r.std_error});
    }
  }
  return data;
}

Flags outside(const Candidates& candidates) {
  Flags barred{};
  barred.fill(true);
  for (const int index : candidates) { barred[index] = false; }
  return barred;
}

Flags with_tried(Flags flags, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) { flags[trial.index] = true; }
  return flags;
}

/// Of a few games those that count are worth a second look; of 120 orders a new one tells more.
Flags without(Flags taken, const std::vector<Measurement>& data) {
  for (const Measurement& each : data) { taken[each.order] = false; }
  return taken;
}

double variance_of(const std::vector<Measurement>& data) {
  constexpr double kLeast = 1e-6;
  const double centre = search::centre_of(data);
  double sum = 0;
  for (const Measurement& each : data) { sum += std::pow(each.value - centre, 2); }
  return std::max(sum / static_cast<double>(data.size()), kLeast);
}

// Around the spread of the data. A handful of points can be explained by any length scale, so the
// search does without the extremes.
HyperBounds hyper_bounds(const std::vector<Measurement>& data) {
  const double variance = variance_of(data);
  HyperBounds bounds;
  bounds.lambda = {0.02, 2};
  bounds.signal_variance = {0.1 * variance, 100 * variance};
  return bounds;
}

/// A search as it goes.
struct Course {
  const SearchOptions& options;
  const Candidates& candidates;
  std::uint64_t seed;
  std::vector<Trial> trials = {};

  [[nodiscard]] int left() const {
    return options.num_workflows - static_cast<int>(std::ssize(trials));
  }
  [[nodiscard]] double beta() const {
    const int t = static_cast<int>(std::ssize(trials)) + 1;
    const int among = static_cast<int>(std::ssize(candidates));
    return options.beta.value_or(search::beta_at(t, options.delta, among));
  }
};

std::vector<int> next_picks(const Course& course) {
  const SearchOptions& options = course.options;
  const Flags barred = outside(course.candidates);
  if (course.trials.empty()) {
    return search::pick_apart(std::min(course.left(), options.num_initial), course.seed, {},
                              barred);
  }
  const int size = std::min(course.left(), options.batch);
  const bool learns = options.only_compliant && options.learn_compliance;
  const std::vector<Measured> orders = measured_of(course.trials);
  const std::vector<Measurement> data = observations(options, orders);
  const Flags tried = with_tried({}, course.trials);
  Flags taken = with_tried(barred, course.trials);
  if (std::ranges::count(taken, false) == 0) { taken = barred; }  // every game was tried
  if (data.empty()) {
    return learns ? pick_likeliest(size, chance_to_comply(options, orders), taken)
                  : search::pick_apart(size, course.seed, tried, barred);
  }
  if (learns) { taken = without_unlikely(taken, chance_to_comply(options, orders), size); }
  if (!options.all_orders) { taken = without(taken, data); }
  const Hyper hyper = search::fit_hyper(data, hyper_bounds(data));
  return search::pick_batch(data, hyper,
                            {.size = size, .beta = course.beta(), .liar = options.liar}, taken);
}

void add(std::vector<Trial>& trials, const std::vector<int>& picks, const Measure& measure) {
  const int batch = trials.empty() ? 0 : trials.back().batch + 1;
  std::map<int, int> evaluations;  // of each order, so far
  for (const Trial& trial : trials) { ++evaluations[trial.index]; }
  std::vector<Ask> asks;
  asks.reserve(picks.size());
  for (const int pick : picks) { asks.push_back({pick, evaluations[pick]++}); }
  std::vector<std::vector<WorkflowResult>> results = measure(asks);
  for (std::size_t i = 0; i < picks.size(); ++i) {
    trials.push_back({picks[i], batch, std::move(results[i])});
  }
}

bool at_an_end(double value, const search::Bounds& bounds) {
  constexpr double kNear = 1e-6;
  return value <= bounds.low * (1 + kNear) || value >= bounds.high * (1 - kNear);
}

}  // namespace

std::vector<Trial> explore(const SearchOptions& options, const Candidates& candidates,
                           std::uint64_t seed, const Measure& measure) {
  Course course{options, candidates, seed};
  while (course.left() > 0) { add(course.trials, next_picks(course), measure); }
  return course.trials;
}

std::vector<Trial> explore_randomly(const SearchOptions& options, const Candidates& candidates,
                                    std::uint64_t seed, const Measure& measure) {
  const Flags barred = outside(candidates);
  std::vector<int> picks;
  for (std::uint32_t round = 0; std::ssize(picks) < options.num_workflows; ++round) {
    const int left = options.num_workflows - static_cast<int>(std::ssize(picks));
    const std::uint64_t of_round = round == 0 ? seed : episode_seed(seed, round, 0);
    for (const int pick : search::pick_random(left, of_round, barred)) { picks.push_back(pick); }
  }
  std::vector<Trial> trials;
  add(trials, picks, measure);
  return trials;
}

Belief fit_belief(const SearchOptions& options, const std::vector<Measured>& orders) {
  Belief belief;
  belief.data = observations(options, orders);
  belief.num_observations = static_cast<int>(belief.data.size());
  if (!belief.data.empty()) {
    const HyperBounds bounds = hyper_bounds(belief.data);
    belief.hyper = search::fit_hyper(belief.data, bounds);
    belief.lambda_at_bound = at_an_end(belief.hyper.lambda, bounds.lambda);
    belief.log_marginal = search::log_marginal(belief.data, belief.hyper);
  }
  belief.posterior = search::posterior(belief.data, belief.hyper);
  return belief;
}

std::vector<int> rank(const SearchOptions& options, const std::vector<Measured>& orders) {
  std::vector<int> places(orders.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
    const WorkflowResult& x = orders[a].result;
    const WorkflowResult& y = orders[b].result;
    const bool counts = usable(options, x);
    if (counts != usable(options, y)) { return counts; }
    if (std::isfinite(x.mean_return) != std::isfinite(y.mean_return)) {
      return std::isfinite(x.mean_return);
    }
    return x.mean_return > y.mean_return;
  });
  return places;
}

std::optional<int> best_of(const SearchOptions& options, const std::vector<Measured>& orders) {
  if (orders.empty()) { return {}; }
  const int first = rank(options, orders).front();
  return usable(options, orders[first].result) ? std::optional(first) : std::nullopt;
}

}  // namespace penstock::cage2::detail
