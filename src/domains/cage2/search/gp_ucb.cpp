#include "domains/cage2/search/gp_ucb.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "domains/cage2/search/compliance_model.h"

namespace penstock::cage2::detail {
namespace {

using search::Flags;
using search::Hyper;
using search::HyperBounds;
using search::Measurement;

std::vector<Measurement> observations(const SearchOptions& options,
                                      const std::vector<Trial>& trials) {
  std::vector<Measurement> data;
  for (const Trial& trial : trials) {
    const WorkflowResult& r = trial.result;
    if (usable(options, r)) {
      data.push_back({trial.index, r.mean_return, r.std_error * r.std_error});
    }
  }
  return data;
}

Flags taken_by(const std::vector<Trial>& trials) {
  Flags taken{};
  for (const Trial& trial : trials) { taken[trial.index] = true; }
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
HyperBounds bounds_of(const SearchOptions& options, const std::vector<Measurement>& data) {
  const double variance = variance_of(data);
  HyperBounds bounds;
  bounds.lambda = {0.02, 2};
  bounds.signal_variance = {0.1 * variance, 100 * variance};
  if (options.fit_noise) { bounds.noise_variance = {1e-4 * variance, variance}; }
  return bounds;
}

double beta_now(const SearchOptions& options, std::size_t evaluations) {
  return options.beta.value_or(search::beta_at(evaluations + 1, options.delta));
}

std::vector<int> next_picks(const SearchOptions& options, std::uint64_t seed,
                            const std::vector<Trial>& trials) {
  const int left = options.num_workflows - std::ssize(trials);
  if (trials.empty()) { return search::pick_apart(std::min(left, options.num_initial), seed, {}); }
  const int size = std::min(left, options.batch);
  const bool learns = options.only_compliant && options.learn_compliance;
  const std::vector<Measurement> data = observations(options, trials);
  Flags taken = taken_by(trials);
  if (data.empty()) {
    return learns ? pick_likeliest(size, chance_to_comply(options, trials), taken)
                  : search::pick_apart(size, seed, taken);
  }
  if (learns) { taken = without_unlikely(taken, chance_to_comply(options, trials), size); }
  const Hyper hyper = search::fit_hyper(data, bounds_of(options, data));
  return search::pick_batch(
      data, hyper, {.size = size, .beta = beta_now(options, trials.size()), .liar = options.liar},
      taken);
}

void add(std::vector<Trial>& trials, const std::vector<int>& picks, const Measure& measure) {
  const int batch = trials.empty() ? 0 : trials.back().batch + 1;
  std::vector<WorkflowResult> results = measure(picks);
  for (std::size_t i = 0; i < picks.size(); ++i) {
    trials.push_back({picks[i], batch, std::move(results[i])});
  }
}

}  // namespace

std::vector<Trial> explore(const SearchOptions& options, std::uint64_t seed,
                           const Measure& measure) {
  std::vector<Trial> trials;
  while (std::ssize(trials) < options.num_workflows) {
    add(trials, next_picks(options, seed, trials), measure);
  }
  return trials;
}

std::vector<Trial> explore_randomly(const SearchOptions& options, std::uint64_t seed,
                                    const Measure& measure) {
  std::vector<Trial> trials;
  add(trials, search::pick_random(options.num_workflows, seed, {}), measure);
  return trials;
}

Belief fit_belief(const SearchOptions& options, const std::vector<Trial>& trials) {
  Belief belief;
  const std::vector<Measurement> data = observations(options, trials);
  belief.num_observations = static_cast<int>(data.size());
  if (!data.empty()) {
    belief.hyper = search::fit_hyper(data, bounds_of(options, data));
    belief.log_marginal = search::log_marginal(data, belief.hyper);
  }
  belief.posterior = search::posterior(data, belief.hyper);
  return belief;
}

std::vector<int> rank(const SearchOptions& options, const std::vector<Trial>& trials) {
  std::vector<int> places(trials.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int a, int b) {
    const WorkflowResult& x = trials[a].result;
    const WorkflowResult& y = trials[b].result;
    const bool counts = usable(options, x);
    if (counts != usable(options, y)) { return counts; }
    if (std::isfinite(x.mean_return) != std::isfinite(y.mean_return)) {
      return std::isfinite(x.mean_return);
    }
    return x.mean_return > y.mean_return;
  });
  return places;
}

std::optional<int> best_of(const SearchOptions& options, const std::vector<Trial>& trials,
                           std::size_t count) {
  std::optional<int> best;
  for (std::size_t i = 0; i < count; ++i) {
    const WorkflowResult& each = trials[i].result;
    if (!usable(options, each)) { continue; }
    if (!best || each.mean_return > trials[*best].result.mean_return) {
      best = static_cast<int>(i);
    }
  }
  return best;
}

}  // namespace penstock::cage2::detail
