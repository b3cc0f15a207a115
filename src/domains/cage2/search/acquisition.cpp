#include "penstock/domains/cage2/search/acquisition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "penstock/core/base/check.h"
#include "penstock/core/base/random.h"

namespace penstock::cage2::search {
namespace {

double lie_of(std::span<const Measurement> data, Liar liar) {
  const auto less = [](const Measurement& a, const Measurement& b) { return a.value < b.value; };
  if (liar == Liar::mean) { return centre_of(data); }
  const auto [low, high] = std::minmax_element(data.begin(), data.end(), less);
  return liar == Liar::lowest ? low->value : high->value;
}

double mean_variance(std::span<const Measurement> data) {
  double sum = 0;
  for (const Measurement& each : data) { sum += each.variance; }
  return sum / static_cast<double>(data.size());
}

// The highest that is not taken, or -1.
int best_of(const Scores& scores, const Flags& taken) {
  int best = -1;
  for (int i = 0; i < kNumOrders; ++i) {
    if (!taken[i] && (best < 0 || scores[i] > scores[best])) { best = i; }
  }
  return best;
}

// To the nearest that is taken; the same for all when none is.
int distance_to(const Flags& taken, int order) {
  int nearest = kNumPairs + 1;
  for (int i = 0; i < kNumOrders; ++i) {
    if (taken[i]) { nearest = std::min(nearest, kendall_distance(i, order)); }
  }
  return nearest;
}

std::vector<int> left_of(const Flags& taken) {
  std::vector<int> left;
  for (int i = 0; i < kNumOrders; ++i) {
    if (!taken[i]) { left.push_back(i); }
  }
  return left;
}

std::vector<int> farthest(const Flags& taken, const Flags& barred) {
  std::vector<int> found;
  int best = 0;
  for (const int order : left_of(taken)) {
    if (barred[order]) { continue; }
    const int distance = distance_to(taken, order);
    if (distance > best) { found.clear(); }
    if (distance >= best) { found.push_back(order); }
    best = std::max(best, distance);
  }
  return found;
}

}  // namespace

double beta_at(int t, double delta, int num_orders) {
  const double pi = std::numbers::pi;
  return 2 * std::log(num_orders * static_cast<double>(t) * t * pi * pi / (6 * delta));
}

Scores upper_bounds(const Posterior& posterior, double beta) {
  Scores scores{};
  const double width = std::sqrt(beta);
  for (int i = 0; i < kNumOrders; ++i) { scores[i] = posterior.mean[i] + width * posterior.std[i]; }
  return scores;
}

std::vector<int> ranked(const Scores& scores) {
  std::vector<int> order(kNumOrders);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
  return order;
}

std::vector<int> pick_batch(std::span<const Measurement> data, const Hyper& hyper,
                            const BatchOptions& options, Flags taken) {
  PENSTOCK_CHECK(data.empty(), ==, false);
  const double centre = centre_of(data);
  const double lie = lie_of(data, options.liar);
  const double variance = mean_variance(data);
  std::vector<Measurement> believed(data.begin(), data.end());
  std::vector<int> picks;
  while (std::ssize(picks) < options.size) {
    const Posterior belief = posterior(believed, hyper, centre);
    const int pick = best_of(upper_bounds(belief, options.beta), taken);
    if (pick < 0) { break; }
    picks.push_back(pick);
    taken[pick] = true;
    believed.push_back({pick, lie, variance});
  }
  return picks;
}

std::vector<int> pick_apart(int size, std::uint64_t seed, Flags taken, const Flags& barred) {
  Random random(seed);
  std::vector<int> picks;
  while (std::ssize(picks) < size) {
    const std::vector<int> far = farthest(taken, barred);
    if (far.empty()) { break; }
    const int pick = far[random.below(far.size())];
    picks.push_back(pick);
    taken[pick] = true;
  }
  return picks;
}

std::vector<int> pick_random(int size, std::uint64_t seed, const Flags& taken) {
  Random random(seed);
  std::vector<int> left = left_of(taken);
  const std::size_t count = std::min<std::size_t>(left.size(), size);
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(left[i], left[i + random.below(left.size() - i)]);
  }
  left.resize(count);
  return left;
}

}  // namespace penstock::cage2::search
