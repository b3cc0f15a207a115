#include "domains/cage2/search/compliance_model.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace penstock::cage2::detail {
namespace {

using search::Flags;
using search::Hyper;
using search::HyperBounds;
using search::kNumOrders;
using search::Measurement;
using search::Scores;

/// Below it an order is not picked while likelier ones are left.
constexpr double kLikelyEnough = 0.3;
/// What a run lacks that does not comply though its number says otherwise.
constexpr double kJustMissed = 0.01;

double compliance_of(const SearchOptions& options, const WorkflowResult& result) {
  const double threshold = options.job.compliance_threshold;
  const double told = std::isfinite(result.compliance) ? result.compliance : 0;
  return result.compliant ? std::max(told, threshold) : std::min(told, threshold - kJustMissed);
}

std::vector<Measurement> compliance_seen(const SearchOptions& options,
                                         const std::vector<Measured>& orders) {
  std::vector<Measurement> data;
  data.reserve(orders.size());
  for (const Measured& order : orders) {
    data.push_back({order.index, compliance_of(options, order.result), 0});
  }
  return data;
}

// A run's compliance has no standard error; its noise is fitted.
HyperBounds bounds_of(const std::vector<Measurement>& data) {
  constexpr double kLeast = 1e-4;
  const double centre = search::centre_of(data);
  double variance = 0;
  for (const Measurement& each : data) { variance += std::pow(each.value - centre, 2); }
  variance = std::max(variance / static_cast<double>(data.size()), kLeast);
  HyperBounds bounds;
  bounds.lambda = {0.02, 2};
  bounds.signal_variance = {0.1 * variance, 100 * variance};
  bounds.noise_variance = {0.01 * variance, variance};
  return bounds;
}

double normal_above(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

}  // namespace

Scores chance_to_comply(const SearchOptions& options, const std::vector<Measured>& orders) {
  Scores chance{};
  chance.fill(1);
  if (orders.empty()) { return chance; }
  const std::vector<Measurement> data = compliance_seen(options, orders);
  const Hyper hyper = search::fit_hyper(data, bounds_of(data));
  const search::Posterior belief = search::posterior(data, hyper);
  for (std::size_t i = 0; i < chance.size(); ++i) {
    const double missing = options.job.compliance_threshold - belief.mean[i];
    chance[i] = normal_above(missing / std::hypot(belief.std[i], std::sqrt(hyper.noise_variance)));
  }
  return chance;
}

std::vector<int> pick_likeliest(int size, const Scores& chance, const Flags& taken) {
  std::vector<int> picks;
  for (const int order : search::ranked(chance)) {
    if (std::ssize(picks) == size) { break; }
    if (!taken[order]) { picks.push_back(order); }
  }
  return picks;
}

Flags without_unlikely(Flags taken, const Scores& chance, int size) {
  const std::vector<int> likeliest = pick_likeliest(size, chance, taken);
  for (int i = 0; i < kNumOrders; ++i) { taken[i] = taken[i] || chance[i] < kLikelyEnough; }
  if (std::count(taken.begin(), taken.end(), false) < size) {
    for (const int order : likeliest) { taken[order] = false; }
  }
  return taken;
}

}  // namespace penstock::cage2::detail
