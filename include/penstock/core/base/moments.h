#pragma once

namespace penstock {

/// Count, mean and sum of squared deviations; merges without cancellation (Chan et al.).
/// The last bits depend on the order of add() and merge(): merge in a fixed one, see tree_reduce().
struct Moments {
  double count = 0;
  double mean = 0;
  double m2 = 0;  // sum of (x - mean)^2

  /// One number, by Welford's step.
  void add(double x) {
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    m2 += delta * (x - mean);
  }
  /// As if all that the other has seen had been added.
  void merge(const Moments& other) {
    if (other.count == 0) { return; }
    const double total = count + other.count;
    const double delta = other.mean - mean;
    mean += delta * other.count / total;
    m2 += other.m2 + delta * delta * count * other.count / total;
    count = total;
  }
  /// Of the population; 1 before anything was seen.
  [[nodiscard]] double variance() const { return count > 0 ? m2 / count : 1.0; }
};

}  // namespace penstock
