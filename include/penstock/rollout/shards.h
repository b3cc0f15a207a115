#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "penstock/env/vec_env.h"

namespace penstock {

/// The fixed split of N envs into S contiguous shards. S comes from the config, never from the
/// hardware, so what is computed per shard and merged up the tree has the same bits on any number
/// of threads. A shard owns its envs, and every sample they make, for the whole run.
class Shards {
 public:
  Shards(std::size_t num_envs, std::size_t num_shards) : num_envs_(num_envs) {
    const std::size_t count = std::clamp<std::size_t>(num_shards, 1, num_envs);
    for (std::size_t s = 0; s < count; ++s) {
      ranges_.push_back({num_envs * s / count, num_envs * (s + 1) / count});
    }
  }
  [[nodiscard]] std::size_t count() const { return ranges_.size(); }
  [[nodiscard]] std::size_t num_envs() const { return num_envs_; }
  [[nodiscard]] EnvRange range(std::size_t shard) const { return ranges_[shard]; }

 private:
  std::size_t num_envs_;
  std::vector<EnvRange> ranges_;
};

/// Merges items[0..n) into items[0] pairwise: (0,1) (2,3) ..., then (0,2) ..., a fixed binary tree.
/// merge(a, b) folds b into a.
template <class T, class Merge>
void tree_reduce(std::span<T> items, const Merge& merge) {
  for (std::size_t stride = 1; stride < items.size(); stride *= 2) {
    for (std::size_t i = 0; i + stride < items.size(); i += 2 * stride) {
      merge(items[i], items[i + stride]);
    }
  }
}

/// Count, mean and sum of squared deviations; merges without cancellation (Chan et al.).
struct Moments {
  double count = 0;
  double mean = 0;
  double m2 = 0;

  void add(double x) {
    count += 1;
    const double delta = x - mean;
    mean += delta / count;
    m2 += delta * (x - mean);
  }
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
