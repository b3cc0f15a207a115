#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "penstock/core/base/check.h"
#include "penstock/core/base/moments.h"
#include "penstock/core/base/tree_reduce.h"
#include "penstock/core/env/vec_env.h"

namespace penstock {

/// The fixed split of N envs into S contiguous shards. S comes from the config, never from the
/// hardware, so what is computed per shard and merged up the tree has the same bits on any number
/// of threads. A shard owns its envs, and every sample they make, for the whole run.
///
/// A process holds whole shards, next to each other. Its ranges count its own envs from 0; what
/// is drawn at random or named comes from numbers in the run: slice().first + env, number(shard).
///
///     const Shards shards(100, 8);       // eight shards of 12 or 13 envs
///     const EnvRange own = shards.range(2);
class Shards {
 public:
  /// All of the run in one process. At least one shard and at most one per env; sizes differ by at
  /// most one. Envs must be above 0.
  Shards(std::size_t num_envs, std::size_t num_shards) : Shards(num_envs, num_shards, 0, 1) {}
  /// The share of process `rank` of `num_processes`, of which there are no more than shards.
  Shards(std::size_t num_envs, std::size_t num_shards, std::size_t rank, std::size_t num_processes)
      : total_envs_(num_envs), total_(std::clamp<std::size_t>(num_shards, 1, num_envs)) {
    PENSTOCK_CHECK(num_processes, <=, total_);
    first_ = total_ * rank / num_processes;
    const auto begin_of = [&](std::size_t shard) { return num_envs * shard / total_; };
    slice_.first = begin_of(first_);
    for (std::size_t s = first_; s < total_ * (rank + 1) / num_processes; ++s) {
      ranges_.push_back({begin_of(s) - slice_.first, begin_of(s + 1) - slice_.first});
    }
    slice_.count = ranges_.back().end;
    slice_.of = num_envs;
  }
  [[nodiscard]] std::size_t count() const { return ranges_.size(); }   // shards here
  [[nodiscard]] std::size_t num_envs() const { return slice_.count; }  // envs here
  [[nodiscard]] EnvRange range(std::size_t shard) const { return ranges_[shard]; }

  [[nodiscard]] EnvSlice slice() const { return slice_; }
  /// The shard's number among those of all processes.
  [[nodiscard]] std::size_t number(std::size_t shard) const { return first_ + shard; }
  /// Shards of all processes.
  [[nodiscard]] std::size_t total() const { return total_; }
  /// Envs of all processes.
  [[nodiscard]] std::size_t total_envs() const { return total_envs_; }

 private:
  std::size_t total_envs_;
  std::size_t total_;
  std::size_t first_ = 0;
  EnvSlice slice_;
  std::vector<EnvRange> ranges_;
};

}  // namespace penstock
